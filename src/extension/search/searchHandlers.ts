import type { CommandHandlers } from '../commands.ts';
import type { SearchCommandId } from '../names.ts';
import { findRelated } from './related.ts';
import type { Search } from './search.ts';
import { searchFolder } from './searchFolder.ts';

/** What the commands of searching do. */
export function createSearchHandlers(search: () => Search): Pick<CommandHandlers, SearchCommandId> {
  return {
    'farwharf.searchFolder': (argument) => searchFolder(search(), typeof argument === 'string' ? argument : ''),
    'farwharf.findRelated': () => findRelated(search()),
    'farwharf.rebuildIndex': () => search().index.rebuild(),
    'farwharf.pauseIndex': () => search().setPaused(true),
    'farwharf.resumeIndex': () => search().setPaused(false),
  };
}
