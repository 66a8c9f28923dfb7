import { farwharfHome } from '../../core/files/home.ts';
import { messageOf } from '../../core/errors.ts';
import { isUnpriced, type JobRecord } from '../../jobs/ledger/record.ts';
import type { Sweep } from '../../jobs/sweeps/sweep.ts';
import { countJobs, type SweepCounts } from '../../jobs/sweeps/sweepProgress.ts';
import { SweepStore } from '../../jobs/sweeps/sweepStore.ts';
import { costColumns, type RowCost } from '../command/costColumns.ts';
import { answerTable, formatAge, type RecordColumn } from '../command/recordTable.ts';
import type { Context } from '../command/commandContext.ts';
import { Session } from '../command/session.ts';
import { shortSweepId } from './shortSweepId.ts';
import { sweepSummary } from './sweepJson.ts';

interface ListedSweep {
  readonly sweep: Sweep;
  readonly records: readonly JobRecord[];
  readonly counts: SweepCounts;
}

const columns = (listed: readonly ListedSweep[]): readonly RecordColumn<ListedSweep>[] => [
  { title: 'PROFILE', cell: ({ sweep }) => sweep.name, minWidth: 6 },
  { title: 'JOBS', cell: ({ counts }) => String(counts.total), align: 'right' },
  { title: 'DONE', cell: ({ counts }) => String(counts.succeeded + counts.failed), align: 'right' },
  { title: 'FAILED', cell: ({ counts: { failed } }) => (failed === 0 ? '' : String(failed)), align: 'right' },
  { title: 'NOT SENT', cell: ({ counts: { unsent } }) => (unsent === 0 ? '' : String(unsent)), align: 'right' },
  ...costColumns(listed, ({ sweep, counts }) => costOf(sweep, counts), 2),
  { title: 'SENT', cell: ({ sweep }) => formatAge(sweep.createdAt), dropOrder: 1 },
  { title: 'ID', cell: ({ sweep }) => shortSweepId(sweep) },
];

function costOf({ drafts }: Sweep, { cost, hours }: SweepCounts): RowCost {
  return drafts.every(isUnpriced) ? { hours } : { credits: cost };
}

/** `farwharf sweep list`: the sweeps of this service, newest first, with the last known states of their jobs. JSON: `{ sweeps: [...] }`. */
export async function listSweeps(context: Context, _: string, { limit }: { limit: number }): Promise<void> {
  await using session = new Session(context);
  const { terminal } = context;
  const store = new SweepStore(farwharfHome(context.env));
  const found: Sweep[] = [];
  for (const id of await store.ids()) {
    try {
      const sweep = await store.read(id);
      if (sweep?.host === session.host) found.push(sweep);
    } catch (error) {
      terminal.note(messageOf(error));
    }
  }
  const newest = found.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)).slice(0, limit);
  const sweeps = newest.map((sweep): ListedSweep => {
    const records = session.ledger.list({ sweep: sweep.id, withRemoved: true, limit: sweep.drafts.length });
    return { sweep, records, counts: countJobs(sweep.drafts.length, records, Date.now()) };
  });
  if (terminal.json({ sweeps: sweeps.map(({ sweep, records }) => sweepSummary(sweep, records)) })) return;
  answerTable(terminal, columns(sweeps), sweeps, {
    none: `No sweeps on ${session.hostName} yet.`,
    hint: 'Add a "matrix" to a profile in farwharf.json, then:  farwharf submit --profile NAME',
  });
}
