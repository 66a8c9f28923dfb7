import * as l10n from '@vscode/l10n';
import { type Printable, printableLine } from '../../core/text/printable.ts';
import type { ServiceHit } from '../../retrieval/live/indexService.ts';
import { explainScore } from '../../retrieval/ranking/explanation.ts';
import type { Highlighter } from './highlights.ts';
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
  hit: ServiceHit,
  highlighter: Highlighter,
  {
    folderName,
    isExplained = false,
  }: { readonly folderName?: string | undefined; readonly isExplained?: boolean } = {},
): SearchRow {
  const line = hit.startLine + highlighter.bestLine(hit.text);
  const place = `${folderName === undefined ? '' : `${folderName}/`}${hit.path}:${line}`;
  const names = [...hit.scope, ...hit.symbols].slice(0, 3);
  const others =
    hit.more === undefined || hit.more.length === 0 ? [] : [l10n.t('{0} more in this file', hit.more.length)];
  const about =
    isExplained && hit.reasons !== undefined ? [explainScore(hit.score, hit.reasons)] : [...names, ...others];
  return {
    label: bestLineText(hit.text, highlighter),
    detail: withoutIcons([place, ...about].join(' · ')),
    line,
  };
}

/** The line of a text that matches a query best, shortened for a row of a list. */
export function bestLineText(text: string, highlighter: Highlighter): Printable {
  const line = text.split('\n')[highlighter.bestLine(text)] ?? '';
  return withoutIcons(shorten(line, highlighter) || ' '); // VS Code requires some text
}

function shorten(line: string, highlighter: Highlighter): string {
  const text = printableLine(line).trim().replaceAll('\t', ' ');
  if (text.length <= MAX_CHARACTERS) return text;
  const first = highlighter.find(text)[0]?.start ?? 0;
  const from = Math.max(0, first - LEAD_CHARACTERS);
  return `${from === 0 ? '' : '…'}${text.slice(from, from + MAX_CHARACTERS)}…`;
}
