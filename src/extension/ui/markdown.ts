import { printableLine } from '../../core/text/printable.ts';

// Backslash first, then what Markdown or a table cell would read as markup; `$(` would become an icon.
const MARKUP = /[\\`*_{}[\]()#+\-.!|<>~$&]/g;

/** Text from a job, a file name or a service as one line of inert Markdown. */
export function escapeMarkdown(text: string): string {
  return printableLine(text).replace(/\s+/g, ' ').trim().replace(MARKUP, '\\$&');
}

/** A Markdown table of two columns without a heading; the cells are Markdown already. */
export function twoColumns(rows: readonly (readonly [string, string])[]): string {
  return ['| | |', '|:--|:--|', ...rows.map(([left, right]) => `| ${left} | ${right} |`)].join('\n');
}
