import { type Printable, printableLine } from '../../core/text/printable.ts';
import type { ServiceHit } from '../../retrieval/folder/indexService.ts';
import type { Highlighter } from './highlights.ts';
import { withoutIcons } from '../ui/labels.ts';

// A row is one line; longer lines begin near the first word that was asked for.
const LEAD_CHARACTERS = 30;
const MAX_CHARACTERS = 100;

/** A row of the search list in plain values. */
export interface SearchRow {
  readonly label: Printable;
  readonly detail: Printable;
  /** Of the line shown, from 1. */
  readonly line: number;
}

/**
 * The line that says most about the query, and below it where it is and what it belongs to.
 *
 * @param folderName put before the path where several folders are open.
 */
export function searchRow(hit: ServiceHit, highlighter: Highlighter, folderName?: string): SearchRow {
  const line = hit.startLine + highlighter.bestLine(hit.text);
  const place = `${folderName === undefined ? '' : `${folderName}/`}${hit.path}:${line}`;
  const names = [...hit.scope, ...hit.symbols].slice(0, 3);
  return {
    label: bestLineText(hit.text, highlighter),
    detail: withoutIcons([place, ...names].join(' · ')),
    line,
  };
}

/** The line of a text that says most about a query, as a row of a list can show it. */
export function bestLineText(text: string, highlighter: Highlighter): Printable {
  const line = text.split('\n')[highlighter.bestLine(text)] ?? '';
  return withoutIcons(shorten(line, highlighter) || ' '); // VS Code wants some text
}

function shorten(line: string, highlighter: Highlighter): string {
  const text = printableLine(line).trim().replaceAll('\t', ' ');
  if (text.length <= MAX_CHARACTERS) return text;
  const first = highlighter.find(text)[0]?.start ?? 0;
  const from = Math.max(0, first - LEAD_CHARACTERS);
  return `${from === 0 ? '' : '…'}${text.slice(from, from + MAX_CHARACTERS)}…`;
}
