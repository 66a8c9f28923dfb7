import type { CommandHandlers } from '../contributions/commands.ts';
import type { SearchCommandId } from '../contributions/names.ts';
import { askAgain, askFolder, askFollowUp, stopAnswer } from './ask.ts';
import { selectModel } from '../models/modelPick.ts';
import { rankByMeaning } from './rankByMeaning.ts';
import { findRelated } from './related.ts';
import type { Search } from './search.ts';
import { searchFolder } from './searchFolder.ts';

/** What the search commands do. */
export function createSearchHandlers(search: () => Search): Pick<CommandHandlers, SearchCommandId> {
  return {
    'farwharf.searchFolder': (argument) =>
      searchFolder(search(), typeof argument === 'string' ? argument : '', (results) => {
        askFolder(search(), results).catch(search().report);
      }),
    'farwharf.askAboutResults': () => search().askAboutResults(),
    'farwharf.askFolder': () => askFolder(search()),
    'farwharf.askFollowUp': (argument) => askFollowUp(search(), argument),
    'farwharf.askAgain': (argument) => askAgain(search(), argument),
    'farwharf.stopAnswer': (argument) => stopAnswer(search(), argument),
    'farwharf.selectModel': () => selectModel(search().modelKeys),
    'farwharf.findRelated': () => findRelated(search()),
    'farwharf.rebuildIndex': () => search().index.rebuild(),
    'farwharf.rankByMeaning': () => rankByMeaning(search()),
    'farwharf.pauseIndex': () => search().setPaused(true),
    'farwharf.resumeIndex': () => search().setPaused(false),
  };
}
