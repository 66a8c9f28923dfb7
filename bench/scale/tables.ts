import { readFileSync, writeFileSync } from 'node:fs';

export type Row = readonly string[];

/** A table in Markdown whose columns are as wide as they need to be; all but the first are numbers where `areNumbers`. */
export function table([head = [], ...rows]: readonly Row[], areNumbers = true): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const isRight = (column: number): boolean => areNumbers && column > 0;
  const line = (cells: Row): string =>
    `| ${cells.map((cell, i) => (isRight(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, i) => (isRight(i) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return [line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** Puts texts where a document has `<!-- name -->` and `<!-- /name -->`. @throws Error where it has not. */
export function fillIn(path: string, texts: Readonly<Record<string, string>>): void {
  let document = readFileSync(path, 'utf8');
  for (const [name, text] of Object.entries(texts)) {
    const section = new RegExp(`(<!-- ${name} -->\\n)[^]*?(\\n<!-- /${name} -->)`);
    if (!section.test(document)) throw new Error(`${path} has no section ${name}.`);
    document = document.replace(section, (_, before: string, after: string) => `${before}\n${text}\n${after}`);
  }
  writeFileSync(path, document);
}

export function percent(share: number): string {
  const value = share * 100;
  return `${value < 9.95 ? value.toFixed(1) : value.toFixed(0)} %`;
}

export function duration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${ms.toFixed(0)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 7_200_000 ? `${(ms / 60_000).toFixed(0)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}

export function bytes(value: number): string {
  if (value < 1e9) return `${(value / 1e6).toFixed(0)} MB`;
  return value < 1e12 ? `${(value / 1e9).toFixed(1)} GB` : `${(value / 1e12).toFixed(1)} TB`;
}
