import { printableLine } from '../../core/text/printable.ts';
import type { FolderHit } from '../../retrieval/folder/folderSearch.ts';
import { explainScore } from '../../retrieval/ranking/explanation.ts';

const SHOWN_LINES = 4;
const MOST_NAMES = 4;
const MOST_CHARACTERS = 120;

/** A result as `--json` prints it. */
export function hitAsJson(
  { path, startLine, endLine, score, symbols, scope, text, more = [], reasons }: FolderHit,
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

/** `path:line  names`, as editors open it, and the first lines that are not blank, or all lines. */
export function describeHit(
  { path, startLine, scope, symbols, text, more = [], score, reasons }: FolderHit,
  { explain, isWhole }: { readonly explain: boolean; readonly isWhole: boolean },
): string[] {
  const names = [...scope, ...symbols].slice(0, MOST_NAMES).join(' · ');
  const others = more.length === 0 ? '' : `  (${more.length} more: ${more.map((place) => place.startLine).join(', ')})`;
  const lines = text.split('\n');
  const shown = isWhole
    ? lines
    : lines
        .filter((line) => line.trim() !== '')
        .slice(0, SHOWN_LINES)
        .map((line) => line.slice(0, MOST_CHARACTERS));
  return [
    `${path}:${startLine}${names === '' ? '' : `  ${names}`}${others}`,
    ...(explain && reasons !== undefined ? [`  ${explainScore(score, reasons)}`] : []),
    ...shown.map((line) => `    ${line}`),
    '',
  ].map((line) => printableLine(line));
}
