import { AppError } from '../../core/errors.ts';
import { nearest } from '../../core/text/similar.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { JobParameters } from '../ledger/parameters.ts';
import { hasSucceeded, type JobRecord } from '../ledger/record.ts';
import type { Series } from '../metrics/series.ts';
import type { Sweep } from './sweep.ts';

/** A job of a sweep with its metrics, by name. */
export interface SweepRow {
  /** From 0. */
  readonly index: number;
  readonly parameters: JobParameters;
  /** Undefined for a job that was not sent. */
  readonly record: JobRecord | undefined;
  readonly metrics: ReadonlyMap<string, Series>;
}

/** How to find the best job: by the last value of a metric. */
export interface Ranking {
  readonly metric: string;
  readonly isHighest: boolean;
}

/** A row for each job, in the order of the matrix. */
export function sweepRows(
  { drafts }: Pick<Sweep, 'drafts'>,
  records: readonly JobRecord[],
  metricsOf: (id: string) => ReadonlyMap<string, Series>,
): readonly SweepRow[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  return drafts.map(({ id, sweep }, index) => ({
    index,
    parameters: sweep?.parameters ?? {},
    record: byId.get(id),
    metrics: metricsOf(id),
  }));
}

/** The names of the metrics of all rows, in the order in which they occur. */
export function metricNames(rows: readonly SweepRow[]): readonly string[] {
  return [...new Set(rows.flatMap(({ metrics }) => [...metrics.keys()]))];
}

/** The rows with the best value first, and at the end those that have no finite value, in their own order. */
export function rankRows(rows: readonly SweepRow[], { metric, isHighest }: Ranking): readonly SweepRow[] {
  const valueOf = ({ metrics }: SweepRow): number => {
    const last = metrics.get(metric)?.last ?? Number.NaN;
    if (!Number.isFinite(last)) return Infinity;
    return isHighest ? -last : last;
  };
  return rows.toSorted((a, b) => {
    const [x, y] = [valueOf(a), valueOf(b)];
    return x === y ? a.index - b.index : x - y;
  });
}

/**
 * The best of the jobs that succeeded.
 *
 * @throws AppError `missing` if no job has the metric, with the name that is nearest.
 */
export function bestRow(rows: readonly SweepRow[], ranking: Ranking): SweepRow {
  const done = rows.filter(({ record }) => record !== undefined && hasSucceeded(record));
  const [best] = rankRows(done, ranking);
  if (best !== undefined && Number.isFinite(best.metrics.get(ranking.metric)?.last)) return best;
  const names = metricNames(rows);
  const guess = nearest(ranking.metric, names);
  const choices =
    names.length === 0 ? 'Its jobs have printed no metrics.' : `Metrics: ${names.slice(0, 20).join(', ')}.`;
  const hint = guess === undefined ? '' : ` Did you mean ${guess}?`;
  const sentence = `No job of this sweep that succeeded has a value of ${ranking.metric}.${hint} ${choices}`;
  throw new AppError('missing', printableLine(sentence));
}
