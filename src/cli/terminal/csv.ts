// Programs for tables take a cell that begins so for a formula, and run it (OWASP, "CSV injection").
const FORMULA = /^[=+\-@\t\r]/;

/**
 * Rows as comma-separated values (RFC 4180), each line with its CRLF. Numbers stand as they are; a text that would be taken
 * for a formula gets an apostrophe before it, which makes it a text.
 */
export function formatCsv(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): readonly string[] {
  return [header, ...rows].map((row) => `${row.map(formatCell).join(',')}\r\n`);
}

function formatCell(cell: string | number): string {
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
