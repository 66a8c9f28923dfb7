import * as l10n from '@vscode/l10n';
import {
  formatBytes,
  formatCredits,
  formatDuration,
  formatInteger,
  formatMeasured,
  formatNumber,
  plural,
} from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { isOver, isUnpriced, type JobRecord } from '../ledger/record.ts';
import type { SeriesData } from '../metrics/series.ts';
import type { UsageName } from '../metrics/usageSeries.ts';
import { describeCommit } from './describeJob.ts';
import { startedArguments, startedName } from '../selection/script.ts';
import { describeForecast, describeUsed } from '../plan/estimate.ts';
import type { JobPage } from './jobPage.ts';
import { describeWaiting } from './waitingText.ts';

const MAX_FILES = 5;
const USAGE: readonly (readonly [UsageName, string, (amount: number) => string])[] = [
  ['cpu_cores', l10n.t('cores'), formatMeasured],
  ['memory_bytes', l10n.t('memory'), formatBytes],
  ['disk_read_bytes_per_second', l10n.t('read'), formatRate],
  ['disk_write_bytes_per_second', l10n.t('write'), formatRate],
  ['gpus', l10n.t('GPUs'), formatMeasured],
  ['gpu_memory_bytes', l10n.t('GPU mem'), formatBytes],
];

/** A label, in English of at most 9 characters, and its value. */
export type PageLine = readonly [label: string, value: string];

/** A series with its name and its last values in words. */
export interface PagePlot {
  readonly name: string;
  readonly series: SeriesData;
  readonly text: string;
}

/**
 * The facts about a job, without control characters. Unknown ones have no line.
 *
 * @param state its state in words. @param now milliseconds.
 */
export function describeFacts(record: JobRecord, state: string, now: number): readonly PageLine[] {
  const facts: readonly [string, string | null | undefined][] = [
    [l10n.t('job'), record.jobId],
    [l10n.t('state'), state],
    [l10n.t('reason'), describeWaiting(record.reason, now) ?? record.reason],
    [l10n.t('exit'), record.exitCode === null ? null : String(record.exitCode)],
    [record.command === null ? l10n.t('script') : l10n.t('command'), startedName(record)],
    [l10n.t('arguments'), startedArguments(record)],
    [l10n.t('project'), record.project],
    [l10n.t('folder'), record.folder],
    [l10n.t('commit'), describeCommit(record)],
    [l10n.t('machine'), record.machineClass],
    [l10n.t('limit'), record.maxRuntime > 0 ? formatDuration(record.maxRuntime) : undefined],
    [l10n.t('credits'), isUnpriced(record) ? undefined : describeMoney(record, now)],
    [
      l10n.t('used'),
      isOver(record) ? describeUsed(record, now) : isUnpriced(record) ? describeForecast(record, now) : undefined,
    ],
  ];
  return facts.flatMap(([label, value]): PageLine[] => (value ? [[label, printableLine(value)]] : []));
}

/** What the job uses, as far as its service measures it and it uses any. */
export function usagePlots({ usage }: JobPage): readonly PagePlot[] {
  const plots = USAGE.flatMap(([field, name, format]) => {
    const series = usage.get(field);
    return series?.max
      ? [{ name, series, text: l10n.t('{0}, at most {1}', format(series.last), format(series.max)) }]
      : [];
  });
  const gpus = [...usage.gpus].map(([gpu, { used, memory }]) => ({
    name: printableLine(l10n.t('GPU {0}', gpu)),
    series: used,
    text: l10n.t(
      '{0}, at most {1}',
      `${percent(used.last)}, ${formatBytes(memory.last)}`,
      formatBytes(memory.max ?? 0),
    ),
  }));
  return [...plots, ...gpus];
}

function percent(part: number): string {
  return `${formatNumber(Math.round(100 * part))} %`;
}

/** The job's own metrics, up to `limit` of them. */
export function metricPlots({ metrics }: JobPage, limit: number): readonly PagePlot[] {
  return [...metrics].slice(0, limit).map(([name, series]) => ({ name, series, text: formatMeasured(series.last) }));
}

/** `3 files, 1.2 MB: model.pt (1.1 MB), …`; undefined if there are none. */
export function describeFiles({ results: { count, bytes, first } }: JobPage): string | undefined {
  if (count === 0) return undefined;
  const names = first
    .slice(0, MAX_FILES)
    .map(({ path, bytes: size }) => `${printableLine(path)} (${formatBytes(size)})`);
  const rest = count > names.length ? ` ${l10n.t('and {0} more', formatInteger(count - names.length))}` : '';
  const files = plural(count, l10n.t('1 file'), l10n.t('{0} files'));
  return printableLine(`${files}, ${formatBytes(bytes)}: ${names.join(', ')}${rest}`);
}

function describeMoney(record: JobRecord, now: number): string | undefined {
  if (record.creditsCharged !== null) return l10n.t('{0} charged', formatCredits(record.creditsCharged));
  const hold = record.creditHold === null ? undefined : l10n.t('{0} held', formatCredits(record.creditHold));
  return describeForecast(record, now) ?? hold;
}

function formatRate(bytes: number): string {
  return `${formatBytes(bytes)}/s`;
}
