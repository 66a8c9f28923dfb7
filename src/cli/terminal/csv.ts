// Spreadsheets run a cell with one of these prefixes as a formula (OWASP, "CSV injection").
const FORMULA = /^[=+\-@\t\r]/;

/**
 * Rows as comma-separated values (RFC 4180), each line with its CRLF. Numbers are unchanged. Text that looks like a formula gets a
 * leading apostrophe.
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
