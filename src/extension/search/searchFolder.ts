import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError, isAbort } from '../../core/errors.ts';
import type { SearchHit } from '../../retrieval/server/indexServer.ts';
import type { TextMatches } from '../../retrieval/index/highlights.ts';
import { parseQuery } from '../../retrieval/search/query.ts';
import { diskFolders } from '../workspace/folders.ts';
import { indexState, nothingFound } from './index/indexText.ts';
import { Latest } from './latest.ts';
import type { RecentSearches } from './index/recentSearches.ts';
import { type HitItem, HitPick } from './hitPick.ts';
import { foldersToIndex, type Search } from './search.ts';
import { label, withoutIcons } from '../ui/labels.ts';

const LIMIT = 30;
const PAUSE_MS = 300;
// The shown text, what choosing it types, and a description.
const HINTS: readonly (readonly [string, string, string])[] = [
  [l10n.t('"exact words"'), '"', l10n.t('exactly this phrase')],
  ['-word', '-', l10n.t('without this word')],
  ['path:src', 'path:', l10n.t('only files with this in their path; also path:*.test.ts and -path:')],
  ['lang:python', 'lang:', l10n.t('only files in this language; -lang: excludes it')],
];

/** Search results to ask a model about. */
export interface AskedResults {
  readonly query: string;
  readonly hits: readonly SearchHit[];
}

/**
 * The list that searches while the user types.
 *
 * @param onAsk called with the listed results to ask a model about them.
 * @throws AppError as `requireFolder`.
 */
export async function showSearch(search: Search, query: string, onAsk: (results: AskedResults) => void): Promise<void> {
  requireFolder();
  const { contexts, index, log, recent } = search;
  const askButton = {
    iconPath: new vscode.ThemeIcon('comment-discussion'),
    tooltip: l10n.t('Ask a model about these results'),
  };
  const explainButton = {
    iconPath: new vscode.ThemeIcon('info'),
    tooltip: l10n.t('Show or hide how each result got its rank'),
  };
  let isExplained = false;
  const ask = (): void => {
    const { hits } = list;
    if (hits.length === 0) return;
    void recent.add(list.pick.value);
    const results = { query: list.pick.value, hits };
    list.pick.hide();
    onAsk(results); // the editor is restored behind the question
  };
  const list = new HitPick({
    title: l10n.t('Search Folder'),
    placeholder: l10n.t('Type to search. Enter opens a result, Ctrl+Enter asks a model about the results'),
    buttons: [explainButton, askButton],
    onButton: (button) => {
      if (button === askButton) return ask();
      isExplained = !isExplained;
      update(list.pick.value);
    },
    onOpened: () => void recent.add(list.pick.value),
    onError: search.report,
  });
  const { pick } = list;
  let isOpen = true;
  let hasHints = false;

  /** Searches, and shows the results if they are still wanted by then. */
  const show = async (value: string, isWanted: () => boolean, isSemantic?: boolean): Promise<void> => {
    const hits = await index.call((server) =>
      server.searchFolders(value, { limit: LIMIT, isTyping: true, isSemantic }),
    );
    const corrected = await index.call((server) => server.correctSpelling(value, { isTyping: true }));
    const { text, prefixes } = parseQuery(corrected ?? value, { isTyping: true });
    const highlight = (texts: readonly string[]): Promise<readonly TextMatches[]> =>
      index.call((server) => server.highlight({ text, prefixes }, texts));
    const rows = await list.rows(hits, highlight, { isLive: true, isExplained });
    if (!isWanted()) return;
    const heading = corrected === undefined ? [] : [section(l10n.t('did you mean: {0}', corrected))];
    list.replaceRows(rows.length > 0 ? [...heading, ...rows] : [remark(nothingFound(index.status, index.isPaused))]);
  };
  /** Adds semantic results once the user pauses, because running the model for each letter would be wasteful. */
  const searchSemantically = async (value: string): Promise<void> => {
    await sleep(PAUSE_MS);
    const isWanted = (): boolean => isOpen && pick.value === value;
    if (!isWanted()) return;
    try {
      await show(value, isWanted, true);
    } catch (error) {
      if (!isAbort(error)) log.error('a semantic search failed', { error });
    }
  };
  const searching = new Latest<string>(async (value) => {
    try {
      const isWanted = (): boolean => !searching.isStale && pick.value === value;
      await show(value, isWanted);
      if (isWanted() && index.status.some(({ semantic }) => semantic?.type === 'ready')) void searchSemantically(value);
    } catch (error) {
      if (isAbort(error)) return;
      log.error('a search failed', { error });
      list.replaceRows([remark(l10n.t('The search failed. See the extension log, or keep typing to try again.'))]);
    } finally {
      if (!searching.isStale) pick.busy = false;
    }
  });
  const update = (value: string): void => {
    // Enter right after the last letter must not choose a recent search.
    if (hasHints) pick.items = [];
    hasHints = value.trim() === '';
    if (hasHints) {
      pick.busy = false;
      pick.items = emptyRows(recent, (text) => {
        pick.value = text;
        update(text);
      });
      return;
    }
    if (!/[\p{L}\p{N}]/u.test(parseQuery(value).text)) {
      pick.busy = false;
      pick.items = [remark(l10n.t('Enter at least one word to search for.'))];
      return;
    }
    pick.busy = true;
    searching.ask(value);
  };

  let state = '';
  const followIndex = (): void => {
    const before = state;
    state = indexState(index.status, index.isPaused);
    pick.title = label`${[l10n.t('Search Folder'), ...(state === '' ? [] : [state])].join(' · ')}`;
    // Files indexed since may match now. A list with results changes only once the index is complete.
    if (pick.value.trim() !== '' && (list.hits.length === 0 || (before !== '' && state === ''))) update(pick.value);
  };
  const following = index.onDidChange(followIndex);
  const asking = search.onAskAboutResults(ask);
  const toggling = search.onToggleOtherPlaces(() => list.toggleOtherPlaces());
  const forgetting = recent.onDidChange(() => {
    if (pick.value.trim() === '') update('');
  });
  contexts.set('searchOpen', true);
  try {
    void index.start().catch(search.report);
    pick.value = query;
    followIndex();
    update(query);
    pick.onDidChangeValue(update);
    pick.show();
    await list.closed;
  } finally {
    isOpen = false;
    contexts.set('searchOpen', false);
    asking.dispose();
    toggling.dispose();
    forgetting.dispose();
    following.dispose();
  }
}

/** @throws AppError `no-folder` if none on a local disk is open, `missing` if none is indexed. */
export function requireFolder(): void {
  if (diskFolders().length === 0) {
    throw new AppError(
      'no-folder',
      l10n.t('No folder on a local disk is open, so there is nothing to search. Open a folder first.'),
    );
  }
  if (foldersToIndex().length === 0) {
    throw new AppError(
      'missing',
      l10n.t('The index of this folder is turned off. Enable farwharf.index.enabled to search it.'),
    );
  }
}

function emptyRows(recent: RecentSearches, choose: (text: string) => void): HitItem[] {
  const remove = { iconPath: new vscode.ThemeIcon('close'), tooltip: l10n.t('Remove from the recent searches') };
  const searches = recent.all.map(
    (text): HitItem => ({
      label: label`$(history) ${text}`,
      buttons: [remove],
      onChosen: () => choose(text),
      onButton: () => void recent.remove(text),
    }),
  );
  const clear = { label: label`$(clear-all) ${l10n.t('Clear recent searches')}`, onChosen: () => void recent.clear() };
  const hints = HINTS.map(([shown, typed, description]) => ({
    label: label`$(lightbulb) ${shown}`,
    description: withoutIcons(description),
    onChosen: () => choose(typed),
  }));
  return [
    ...(searches.length > 0 ? [section(l10n.t('recent searches')), ...searches, clear] : []),
    section(l10n.t('how to search')),
    ...hints,
  ];
}

function section(text: string): HitItem {
  return { label: withoutIcons(text), kind: vscode.QuickPickItemKind.Separator };
}

function remark(text: string): HitItem {
  return { label: withoutIcons(text), alwaysShow: true };
}
