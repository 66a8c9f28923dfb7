/** The white space at the beginning of the line of an offset. */
export function indentOf(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

/** One step of indentation. */
export function stepOf(text: string): string {
  const indents = text.match(/^(?:\t| {2,8})(?=\S)/gm) ?? [];
  return indents.reduce((least, indent) => (indent.length < least.length ? indent : least), indents[0] ?? '  ');
}

/** The line break of a text. */
export function lineBreakOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

/** A string literal in these quotes. */
export function quotedIn(quote: string, text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return quote + escaped.replaceAll(quote, `\\${quote}`) + quote;
}
