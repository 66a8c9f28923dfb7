import { AppError } from '../../core/errors.ts';
import { formatCount } from '../../core/text/format.ts';
import type { Index } from '../../retrieval/index/index.ts';
import type { IndexHit, IndexSearchOptions } from '../../retrieval/index/indexSearch.ts';
import { Highlighter } from '../../retrieval/index/highlights.ts';
import { parseQuery } from '../../retrieval/search/query.ts';
import type { Context } from '../command/commandContext.ts';
import { searchWithin } from '../../retrieval/index/tokenBudget.ts';
import { openUpToDateIndex } from './upToDateIndex.ts';
import { printableLine } from '../../core/text/printable.ts';
import { explainScore } from '../../retrieval/search/explanation.ts';
import type { CellRange } from '../terminal/terminal.ts';

const SHOWN_LINES = 4;
const MOST_NAMES = 4;
const MOST_CHARACTERS = 120;

// Before the first match of a longer line.
const LEAD_CHARACTERS = 30;
const INDENT = '    ';

interface SearchFlags {
  readonly folder: string;
  readonly topK: number;
  readonly places: boolean;
  readonly history: boolean;
  readonly explain: boolean;
  readonly maxTokens?: number | undefined;
}

/** A line of a result, with its words that match the query. */
interface ResultLine {
  readonly text: string;
  readonly marks: readonly CellRange[];
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

/** A result as `--json` prints it. */
function hitAsJson(
  { path, startLine, endLine, score, symbols, scope, text, more = [], reasons }: IndexHit,
  { explain }: { readonly explain: boolean },
): object {
  return {
    path,
    start_line: startLine,
    end_line: endLine,
    score,
    ...(symbols[0] === undefined ? {} : { symbol: symbols[0] }),
    symbols,
    scope,
    text,
    ...(more.length === 0
      ? {}
      : { more: more.map((place) => ({ start_line: place.startLine, end_line: place.endLine, score: place.score })) }),
    ...(explain && reasons !== undefined ? { reasons } : {}),
  };
}

/**
 * `path:line  names`, as editors open it, with the line that matches the query best, and lines around it that are not blank. `isWhole`
 * gives the first line and all lines instead.
 */
function describeHit(
  { path, startLine, scope, symbols, text, more = [], score, reasons }: IndexHit,
  highlighter: Highlighter,
  { explain, isWhole }: { readonly explain: boolean; readonly isWhole: boolean },
): readonly ResultLine[] {
  const lines = text.split('\n').map((line) => printableLine(line));
  const { highlights, bestLine } = highlighter.matchesOf(lines.join('\n'));
  const names = [...scope, ...symbols].slice(0, MOST_NAMES).join(' · ');
  const others = more.length === 0 ? '' : `  (${more.length} more: ${more.map((place) => place.startLine).join(', ')})`;
  const place = `${path}:${startLine + (isWhole ? 0 : bestLine)}`;
  const all = lines.map((line, at) =>
    toResultLine(
      line,
      isWhole ? Infinity : MOST_CHARACTERS,
      highlights.filter((each) => each.line === at),
    ),
  );
  const plain = (line: string): ResultLine => ({ text: line, marks: [] });
  return [
    plain(`${place}${names === '' ? '' : `  ${names}`}${others}`),
    ...(explain && reasons !== undefined ? [plain(`  ${explainScore(score, reasons)}`)] : []),
    ...(isWhole ? all : linesAround(all, bestLine)),
    plain(''),
  ];
}

/** The first lines if the best one is among them; otherwise the best line, with the one before and those after it. */
function linesAround(lines: readonly ResultLine[], bestLine: number): readonly ResultLine[] {
  const textLines = [...lines.entries()].filter(([, { text }]) => text.trim() !== '');
  const best = textLines.findIndex(([at]) => at === bestLine);
  const from = best < SHOWN_LINES ? 0 : best - 1;
  return textLines.slice(from, from + SHOWN_LINES).map(([, line]) => line);
}

/** The line, indented; of a long one, the part with its first match. */
function toResultLine(line: string, mostCharacters: number, highlights: readonly CellRange[]): ResultLine {
  const first = highlights[0]?.start ?? 0;
  const from = line.length <= mostCharacters || first < mostCharacters - LEAD_CHARACTERS ? 0 : first - LEAD_CHARACTERS;
  const before = from === 0 ? INDENT : `${INDENT}…`;
  const shift = before.length - from;
  const part = line.slice(from, from + mostCharacters);
  const marks = highlights
    .map(({ start, end }) => ({ start: start + shift, end: Math.min(end, from + part.length) + shift }))
    .filter(({ start, end }) => start < end);
  return { text: `${before}${part}`, marks };
}
