import * as l10n from '@vscode/l10n';
import { selectModel } from '../../agents/modelPick.ts';
import { askFolder, askLastAgain, continueConversation, stopAnswer } from '../../search/ask.ts';
import { rankByMeaning } from '../../search/rankByMeaning.ts';
import { findRelated } from '../../search/related.ts';
import { showSearch } from '../../search/searchFolder.ts';
import { showDone } from '../../ui/show.ts';
import { type Commands, readDocument, readText, withArgument } from '../command.ts';

export const searchCommands = {
  /** The argument is the first query. */
  'farwharf.searchFolder': withArgument(readText, (context, query) =>
    showSearch(context.search(), query, (results) => {
      askFolder(context.search(), results).catch(context.search().report);
    }),
  ),
  'farwharf.clearSearches': async ({ search }) => {
    await search().recent.clear();
    showDone(l10n.t('Recent searches cleared'));
  },
  'farwharf.toggleOtherPlaces': ({ search }) => search().toggleOtherPlaces(),
  'farwharf.askAboutResults': ({ search }) => search().askAboutResults(),
  'farwharf.askFolder': ({ search }) => askFolder(search()),
  'farwharf.askFollowUp': withArgument(readDocument, ({ search }, document) =>
    continueConversation(search(), document),
  ),
  'farwharf.askAgain': withArgument(readDocument, ({ search }, document) => askLastAgain(search(), document)),
  'farwharf.stopAnswer': withArgument(readDocument, ({ search }, document) => stopAnswer(search(), document)),
  'farwharf.selectModel': ({ search }) => selectModel(search().modelKeys),
  'farwharf.findRelated': ({ search }) => findRelated(search()),
  'farwharf.rebuildIndex': async ({ search }) => {
    const { index } = search();
    await index.call((server) => server.rebuild());
    showDone(index.isHeldUp ? l10n.t('The index is rebuilt once you resume it') : l10n.t('Rebuilding the index'));
  },
  'farwharf.rankByMeaning': ({ search }) => rankByMeaning(search()),
  'farwharf.pauseIndex': async ({ search }) => {
    await search().setPaused(true);
    showDone(l10n.t('Index paused'));
  },
  'farwharf.resumeIndex': async ({ search }) => {
    await search().setPaused(false);
    showDone(l10n.t('Index resumed'));
  },
} satisfies Commands;
