import * as l10n from '@vscode/l10n';
import { type Commands, readDocument } from '../contributions/commands.ts';
import { showDone } from '../ui/show.ts';
import { askFolder, askLastAgain, continueConversation, stopAnswer } from './ask.ts';
import { rankByMeaning } from './rankByMeaning.ts';
import { findRelated } from './related.ts';
import type { Search } from './search.ts';
import { showSearch } from './searchFolder.ts';

export function searchCommands(search: Search): Commands<'search'> {
  return {
    /** The argument is the first query. */
    'farwharf.searchFolder': (argument) =>
      showSearch(search, typeof argument === 'string' ? argument : '', (results) => {
        askFolder(search, results).catch(search.report);
      }),
    'farwharf.clearSearches': async () => {
      await search.recent.clear();
      showDone(l10n.t('Recent searches cleared'));
    },
    'farwharf.toggleOtherPlaces': () => search.toggleOtherPlaces(),
    'farwharf.askAboutResults': () => search.askAboutResults(),
    'farwharf.askFolder': () => askFolder(search),
    'farwharf.askFollowUp': (argument) => continueConversation(search, readDocument(argument)),
    'farwharf.askAgain': (argument) => askLastAgain(search, readDocument(argument)),
    'farwharf.stopAnswer': (argument) => stopAnswer(search, readDocument(argument)),
    'farwharf.findRelated': () => findRelated(search),
    'farwharf.rebuildIndex': async () => {
      const { index } = search;
      await index.call((server) => server.rebuild());
      showDone(index.isHeldUp ? l10n.t('The index is rebuilt once you resume it') : l10n.t('Rebuilding the index'));
    },
    'farwharf.rankByMeaning': () => rankByMeaning(search),
    'farwharf.pauseIndex': async () => {
      await search.setPaused(true);
      showDone(l10n.t('Index paused'));
    },
    'farwharf.resumeIndex': async () => {
      await search.setPaused(false);
      showDone(l10n.t('Index resumed'));
    },
  };
}
