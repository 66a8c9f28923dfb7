import type { JobRecord } from '../../jobs/ledger/record.ts';
import type { Series } from '../../jobs/metrics/series.ts';
import { costSoFar } from '../../jobs/plan/estimate.ts';
import { highestSweepCost, type Sweep } from '../../jobs/sweeps/sweep.ts';
import { countJobs } from '../../jobs/sweeps/sweepProgress.ts';
import { sweepRows } from '../../jobs/sweeps/sweepTable.ts';

/** A sweep with its jobs, in the order of the matrix. Credits, as `/v1` names its fields. Numbers that are not finite become null. */
export function sweepAsJson(
  sweep: Sweep,
  records: readonly JobRecord[],
  metricsOf: (id: string) => ReadonlyMap<string, Series> = () => new Map(),
): object {
  const now = Date.now();
  return {
    ...sweepSummary(sweep, records),
    jobs: sweepRows(sweep, records, metricsOf).map(({ index, parameters, record, metrics }) => ({
      index,
      parameters,
      job_id: record?.jobId ?? null,
      state: record?.state ?? 'not_sent',
      exit_code: record?.exitCode ?? null,
      reason: record?.reason ?? null,
      script: sweep.drafts[index]?.script ?? '',
      credits: record === undefined ? null : costSoFar(record, now),
      metrics: Object.fromEntries([...metrics].map(([name, series]) => [name, metricAsJson(series)])),
    })),
  };
}

/** A sweep without its jobs. */
export function sweepSummary(sweep: Sweep, records: readonly JobRecord[]): object {
  const { id, name, host, folder, createdAt, concurrency, maxCost, isCancelled } = sweep;
  return {
    sweep_id: id,
    name,
    host,
    folder,
    created_at: createdAt,
    concurrency,
    max_cost: maxCost,
    highest_cost: highestSweepCost(sweep) ?? null,
    is_cancelled: isCancelled,
    counts: countJobs(sweep.drafts.length, records, Date.now()),
  };
}

function metricAsJson({ last, min, max, count }: Series): object {
  return { last, min: min ?? null, max: max ?? null, count };
}
