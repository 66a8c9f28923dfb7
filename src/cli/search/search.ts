import { AppError } from '../../core/errors.ts';
import { formatCount } from '../../core/text/format.ts';
import type { Index } from '../../retrieval/index/index.ts';
import type { IndexHit, IndexSearchOptions } from '../../retrieval/index/indexSearch.ts';
import { Highlighter } from '../../retrieval/index/highlights.ts';
import { parseQuery } from '../../retrieval/search/query.ts';
import type { Context } from '../command/commandContext.ts';
import { describeHit, hitAsJson } from './searchOutput.ts';
import { searchWithin } from '../../retrieval/index/tokenBudget.ts';
import { openUpToDateIndex } from './upToDateIndex.ts';

interface SearchFlags {
  readonly folder: string;
  readonly topK: number;
  readonly places: boolean;
  readonly history: boolean;
  readonly explain: boolean;
  readonly maxTokens?: number | undefined;
}

/**
 * `farwharf search`: the results of a query in a folder, best first, one per file unless `--places`. JSON: `{ hits: [...] }`, each with
 * its text, the state of semantic ranking if it is on, and the query that was searched if a word was misspelt.
 */
export async function search(context: Context, query: string, flags: SearchFlags): Promise<void> {
  const { terminal } = context;
  if (query.trim() === '') {
    throw new AppError('bad-input', "Enter words to search for, such as  farwharf search 'retry delay'");
  }
  const { index, root } = await openUpToDateIndex(flags.folder, context, { usesHistory: flags.history });
  using opened = index;
  const { describeFallback, nearestPlaces } = await import('./meaning.ts');
  const meaning = await nearestPlaces(query, root, context);
  const hits = await findHits(opened, query, flags, { near: meaning?.near, isByPlace: flags.places });
  const corrected = opened.correct(query);
  const isWhole = flags.maxTokens !== undefined;
  terminal.json({
    hits: hits.map((hit) => hitAsJson(hit, flags)),
    ...(meaning === undefined ? {} : { meaning: meaning.state }),
    ...(corrected === undefined ? {} : { did_you_mean: corrected }),
  });
  const fallback = meaning && describeFallback(meaning.state);
  if (fallback !== undefined) terminal.note(fallback);
  if (terminal.isJson) return;
  if (corrected !== undefined && hits.length > 0) terminal.note(`Did you mean: ${corrected}`);
  const { files } = opened.stats;
  if (hits.length === 0 && files > 0) terminal.note(`No matches in ${formatCount(files, 'file')}.`);
  const highlighter = new Highlighter(parseQuery(corrected ?? query));
  for (const hit of hits) {
    for (const { text, marks } of describeHit(hit, highlighter, { ...flags, isWhole })) terminal.answer(text, marks);
  }
}

async function findHits(
  index: Index,
  query: string,
  { topK, maxTokens }: SearchFlags,
  options: IndexSearchOptions,
): Promise<readonly IndexHit[]> {
  if (maxTokens === undefined) return index.search(query, topK, options);
  return searchWithin(index, query, { ...options, maxTokens });
}
