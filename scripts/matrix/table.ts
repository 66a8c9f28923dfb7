/** The outcome of the tests in one cell. */
export type Cell = 'ok' | 'FAILED' | 'skipped';

/** A platform or an environment, with the cells that it has by the names of their columns. */
export interface Row {
  readonly platform: string;
  readonly artefact: string;
  readonly cells: Map<string, Cell>;
}

/** Notes the outcome of one test. One failure makes a cell FAILED; it is skipped only where none of its tests ran. */
export function note(row: Row, column: string, outcome: Cell): void {
  const rank = ['skipped', 'ok', 'FAILED'];
  const before = row.cells.get(column) ?? 'skipped';
  row.cells.set(column, rank.indexOf(outcome) > rank.indexOf(before) ? outcome : before);
}

/** Returns a Markdown table. What a platform does not have is a dash. */
export function formatMatrix(rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap(({ cells }) => [...cells.keys()]))];
  const lines = [
    ['platform', 'artefact', ...columns],
    ...rows.map(({ platform, artefact, cells }) => [
      platform,
      artefact,
      ...columns.map((column) => cells.get(column) ?? '–'),
    ]),
  ];
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0))) ?? [];
  const [head = '', ...body] = lines.map(
    (line) => `| ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`,
  );
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [head, rule, ...body, ''].join('\n');
}
