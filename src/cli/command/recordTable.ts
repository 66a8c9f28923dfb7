import { formatDuration } from '../../core/text/format.ts';
import { type Column, formatTable } from '../terminal/textTable.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** A column of a table in which each line is a record. */
export interface RecordColumn<R> extends Column {
  readonly cell: (record: R) => string;
}

/** Prints a table of records. If there are none, prints the sentence `none`, and as a note the `hint` on what to do. */
export function answerTable<R>(
  terminal: Terminal,
  columns: readonly RecordColumn<R>[],
  records: readonly R[],
  { none, hint }: { readonly none?: string; readonly hint?: string } = {},
): void {
  if (none !== undefined && records.length === 0) {
    terminal.answer(none);
    if (hint !== undefined) terminal.note(hint);
    return;
  }
  const rows = records.map((record) => columns.map(({ cell }) => cell(record)));
  for (const line of formatTable(columns, rows, terminal.answerColumns)) terminal.answer(line);
}

/** `3 min ago`, for a time in ISO 8601. */
export function formatAge(time: string): string {
  return `${formatDuration(Math.max(0, Date.now() - Date.parse(time)) / 1000)} ago`;
}
