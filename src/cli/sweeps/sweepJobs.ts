import { messageOf } from '../../core/errors.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { currentEvents } from '../../jobs/log/currentEvents.ts';
import { EventSpool } from '../../jobs/log/spool.ts';
import { MetricLines } from '../../jobs/metrics/metricLines.ts';
import type { Series } from '../../jobs/metrics/series.ts';
import { surveyJobs } from '../../jobs/sweeps/surveyJobs.ts';
import type { Sweep } from '../../jobs/sweeps/sweep.ts';
import { SweepStore } from '../../jobs/sweeps/sweepStore.ts';
import type { Context } from '../command/commandContext.ts';
import { Session } from '../command/session.ts';

const AT_ONCE = 8;

/** A sweep with the current state of its jobs. */
export interface SweepJobs {
  readonly records: readonly JobRecord[];
  readonly metricsOf: (id: string) => ReadonlyMap<string, Series>;
}

/** Opens a sweep of this machine with the service that it was sent to. @throws AppError as `SweepStore.find` does. */
export async function openSweep(context: Context, start: string): Promise<{ session: Session; sweep: Sweep }> {
  await using first = new Session(context);
  const sweep = await new SweepStore(first.home).find(start);
  return { sweep, session: new Session({ ...context, remote: sweep.host }) };
}

/** The jobs of a sweep with their metrics so far; the last known states, with a note, if the service does not respond. */
export async function readSweepJobs(session: Session, context: Context, sweep: Sweep): Promise<SweepJobs> {
  const { signal, terminal } = context;
  const metrics = new Map<string, ReadonlyMap<string, Series>>();
  const metricsOf = (id: string): ReadonlyMap<string, Series> => metrics.get(id) ?? new Map();
  const deps = { service: session.sender(), ledger: session.asyncLedger };
  try {
    const records = await surveyJobs(deps, sweep.id, signal);
    const service = await session.client();
    const read = async ({ id, jobId, startedAt }: JobRecord): Promise<void> => {
      if (jobId === null || startedAt === null) return;
      const lines = new MetricLines();
      const spool = new EventSpool(session.home, id);
      for await (const event of currentEvents({ service, spool, jobId }, signal)) lines.push(event);
      metrics.set(id, lines.series);
    };
    for (let start = 0; start < records.length; start += AT_ONCE) {
      terminal.status(`reading the metrics of ${sweep.name}: ${start} of ${records.length} jobs`);
      await Promise.all(records.slice(start, start + AT_ONCE).map(read));
    }
    terminal.clearStatus();
    return { records, metricsOf };
  } catch (error) {
    signal.throwIfAborted();
    terminal.note(`Jobs show their last known state, and metrics may be missing. ${messageOf(error)}`);
    const limit = sweep.drafts.length;
    return { records: session.ledger.list({ sweep: sweep.id, withRemoved: true, limit }), metricsOf };
  }
}
