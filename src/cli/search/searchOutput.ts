import { printableLine } from '../../core/text/printable.ts';
import type { FolderHit } from '../../retrieval/folder/folderSearch.ts';
import type { Reasons } from '../../retrieval/ranking/rankFiles.ts';

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

/** The parts of a score in one line: `12.3 = 0.4 (test) × (25.1 keywords + 5.6 name)`. */
function explainScore(
  score: number,
  { keywords, name, folder, definition, mention, history, role, factor }: Reasons,
): string {
  const parts = Object.entries({
    keywords,
    definition,
    'file name': name,
    folder,
    'path in the query': mention,
    'past commits': history,
  })
    .filter(([, value]) => value > 0)
    .map(([title, value]) => `${value.toFixed(1)} ${title}`);
  const sum = parts.length === 1 ? parts.join('') : `(${parts.join(' + ')})`;
  return `${score.toFixed(1)} = ${factor === 1 ? '' : `${factor} (${role}) × `}${sum}`;
}
