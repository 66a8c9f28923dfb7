import * as l10n from '@vscode/l10n';
import { type Printable, printableLine } from '../../core/text/printable.ts';
import type { TextMatches } from '../../retrieval/index/highlights.ts';
import type { SearchHit } from '../../retrieval/server/indexServer.ts';
import { explainScore } from '../../retrieval/search/explanation.ts';
import { withoutIcons } from '../ui/labels.ts';

// A row is one line; a longer line starts near its first match.
const LEAD_CHARACTERS = 30;
const MAX_CHARACTERS = 100;

/** A row of the search list as plain values. */
export interface SearchRow {
  readonly label: Printable;
  readonly detail: Printable;
  /** Number of the shown line, from 1. */
  readonly line: number;
}

/**
 * The line that matches the query best, and below it its location and the enclosing symbols.
 *
 * @param folderName shown before the path if several folders are open.
 * @param isExplained whether the parts of its score are shown instead of the symbols, for which there is no room then.
 */
export function searchRow(
  hit: SearchHit,
  matches: TextMatches,
  {
    folderName,
    isExplained = false,
  }: { readonly folderName?: string | undefined; readonly isExplained?: boolean } = {},
): SearchRow {
  const line = hit.startLine + matches.bestLine;
  const place = `${folderName === undefined ? '' : `${folderName}/`}${hit.path}:${line}`;
  const names = [...hit.scope, ...hit.symbols].slice(0, 3);
  const others =
    hit.more === undefined || hit.more.length === 0 ? [] : [l10n.t('{0} more in this file', hit.more.length)];
  const about =
    isExplained && hit.reasons !== undefined ? [explainScore(hit.score, hit.reasons)] : [...names, ...others];
  return {
    label: bestLineText(hit.text, matches),
    detail: withoutIcons([place, ...about].join(' · ')),
    line,
  };
}

/** The line of a text that matches a query best, shortened for a row of a list. */
export function bestLineText(text: string, { bestLine, highlights }: TextMatches): Printable {
  const line = text.split('\n')[bestLine] ?? '';
  const first = highlights.find((one) => one.line === bestLine)?.start ?? 0;
  return withoutIcons(shorten(line, first) || ' '); // VS Code requires some text
}

/** @param first the column of the first match. */
function shorten(line: string, first: number): string {
  const text = printableLine(line).trim().replaceAll('\t', ' ');
  if (text.length <= MAX_CHARACTERS) return text;
  const before = printableLine(line.slice(0, first)).trimStart().length;
  const from = Math.max(0, before - LEAD_CHARACTERS);
  return `${from === 0 ? '' : '…'}${text.slice(from, from + MAX_CHARACTERS)}…`;
}
