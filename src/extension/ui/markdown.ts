import { printableLine } from '../../core/text/printable.ts';

// Backslash, what Markdown and table cells treat as markup, `$`, since `$(` would become an icon, and `:` and `@`, which make a link of an
// address.
const MARKUP = /[\\`*_{}[\]()#+\-.!|<>~$&:@]/g;

/** Text from a job, a file name or a service as one line of inert Markdown. */
export function escapeMarkdown(text: string): string {
  return printableLine(text).replace(/\s+/g, ' ').trim().replace(MARKUP, '\\$&');
}

/** A Markdown table of two columns without a heading. The cells are already Markdown. */
export function twoColumns(rows: readonly (readonly [string, string])[]): string {
  return ['| | |', '|:--|:--|', ...rows.map(([left, right]) => `| ${left} | ${right} |`)].join('\n');
}
