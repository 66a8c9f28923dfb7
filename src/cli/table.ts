/** Rows as columns of text, two blanks apart; the last column is not padded. Empty columns are left out. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  alignRight: readonly number[] = [],
): string[] {
  const used = header.map((_, column) => column).filter((column) => rows.some((row) => (row[column] ?? '') !== ''));
  const lines = [header, ...rows];
  const widths = new Map(used.map((column) => [column, Math.max(...lines.map((row) => (row[column] ?? '').length))]));
  return lines.map((row) =>
    used
      .map((column) => {
        const width = widths.get(column) ?? 0;
        const text = row[column] ?? '';
        return alignRight.includes(column) ? text.padStart(width) : text.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}
