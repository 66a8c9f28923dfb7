import { formatBytes, formatCount, formatCredits, formatDuration } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { JobRecord } from '../ledger/record.ts';
import type { SeriesData } from '../metrics/series.ts';
import type { UsageName } from '../metrics/usageSeries.ts';
import { describeCommit } from '../describe.ts';
import { scriptArguments, scriptPath, shownScript } from '../selection/script.ts';
import { describeForecast } from '../submit/estimate.ts';
import type { JobPage } from './jobPage.ts';

const MAX_FILES = 5;
const USAGE: readonly (readonly [UsageName, string, (amount: number) => string])[] = [
  ['cpu_cores', 'cores', formatNumber],
  ['memory_bytes', 'memory', formatBytes],
  ['disk_read_bytes_per_second', 'read', formatRate],
  ['disk_write_bytes_per_second', 'write', formatRate],
  ['gpus', 'GPUs', formatNumber],
  ['gpu_memory_bytes', 'GPU mem', formatBytes],
];

/** A label of at most 9 characters, and its value. */
export type PageLine = readonly [label: string, value: string];

/** A series with its name and its last values in words. */
export interface PagePlot {
  readonly name: string;
  readonly series: SeriesData;
  readonly text: string;
}

/** What a job is, without control characters. What is unknown has no line. @param now milliseconds. */
export function describeFacts(record: JobRecord, now: number): readonly PageLine[] {
  const facts: readonly [string, string | null | undefined][] = [
    ['job', record.jobId],
    ['state', record.state],
    ['reason', record.reason],
    ['exit', record.exitCode === null ? null : String(record.exitCode)],
    ['script', scriptPath(shownScript(record.script))],
    ['arguments', scriptArguments(record.script)],
    ['project', record.project],
    ['folder', record.folder],
    ['commit', describeCommit(record)],
    ['machine', record.machineClass],
    ['limit', record.maxRuntime > 0 ? formatDuration(record.maxRuntime) : undefined],
    ['credits', describeMoney(record, now)],
  ];
  return facts.flatMap(([label, value]): PageLine[] => (value ? [[label, printableLine(value)]] : []));
}

/** What the job uses, as far as its service measures it and it uses any. */
export function usagePlots({ usage }: JobPage): readonly PagePlot[] {
  return USAGE.flatMap(([field, name, format]) => {
    const series = usage.get(field);
    return series?.max ? [{ name, series, text: `${format(series.last)}, at most ${format(series.max)}` }] : [];
  });
}

/** The job's own metrics, up to `limit` of them. */
export function metricPlots({ metrics }: JobPage, limit: number): readonly PagePlot[] {
  return [...metrics].slice(0, limit).map(([name, series]) => ({ name, series, text: formatNumber(series.last) }));
}

/** `3 files, 1.2 MB: model.pt (1.1 MB), …`; undefined if there are none. */
export function describeFiles({ results: { count, bytes, first } }: JobPage): string | undefined {
  if (count === 0) return undefined;
  const names = first
    .slice(0, MAX_FILES)
    .map(({ path, bytes: size }) => `${printableLine(path)} (${formatBytes(size)})`);
  const rest = count > names.length ? ` and ${(count - names.length).toLocaleString('en-US')} more` : '';
  return printableLine(`${formatCount(count, 'file')}, ${formatBytes(bytes)}: ${names.join(', ')}${rest}`);
}

function describeMoney(record: JobRecord, now: number): string | undefined {
  if (record.creditsCharged !== null) return `${formatCredits(record.creditsCharged)} charged`;
  const held = record.creditHold === null ? undefined : `${formatCredits(record.creditHold)} held`;
  return describeForecast(record, now) ?? held;
}

/** Four significant digits; `NaN` and `Infinity` as they are. */
export function formatNumber(value: number): string {
  return String(Number.isFinite(value) ? Number(value.toPrecision(4)) : value);
}

function formatRate(bytes: number): string {
  return `${formatBytes(bytes)}/s`;
}
