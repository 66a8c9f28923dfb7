import { printableLine } from '../../core/text/printable.ts';
import type { IndexHit } from '../../retrieval/index/indexSearch.ts';
import type { Highlighter } from '../../retrieval/index/highlights.ts';
import { explainScore } from '../../retrieval/search/explanation.ts';
import type { CellRange } from '../terminal/terminal.ts';

const SHOWN_LINES = 4;
const MOST_NAMES = 4;
const MOST_CHARACTERS = 120;
// Before the first match of a longer line.
const LEAD_CHARACTERS = 30;
const INDENT = '    ';

/** A result as `--json` prints it. */
export function hitAsJson(
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

/** A line of a result, with its words that match the query. */
interface ResultLine {
  readonly text: string;
  readonly marks: readonly CellRange[];
}

/**
 * `path:line  names`, as editors open it, with the line that matches the query best, and lines around it that are not blank. `isWhole`
 * gives the first line and all lines instead.
 */
export function describeHit(
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
  const shown = [...lines.entries()].filter(([, { text }]) => text.trim() !== '');
  const best = shown.findIndex(([at]) => at === bestLine);
  const from = best < SHOWN_LINES ? 0 : best - 1;
  return shown.slice(from, from + SHOWN_LINES).map(([, line]) => line);
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
