import { Yielder } from '../../../core/processes/yielder.ts';
import type { UsageTable } from '../../store/accounts/usage.ts';
import type { Slot } from './views/barPlot.ts';
import type { ShownUsage } from './views/operatorView.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Adds up the jobs that ended today and this month, span by span, so that other requests are answered in between. */
export async function readUsage(table: Pick<UsageTable, 'ofAccounts'>, now: number): Promise<ShownUsage> {
  const day = new Date(now).toISOString().slice(0, 10);
  const start = Date.parse(day);
  const firstDay = Date.parse(`${day.slice(0, 7)}-01`);
  const days = new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 0)).getUTCDate();
  const chargedOf = new Map<string, number>();
  const yielder = new Yielder();
  const slots = async (from: number, count: number, stepMs: number): Promise<Slot[]> => {
    const read: Slot[] = [];
    for (let index = 0; index < count; index += 1) {
      const at = from + index * stepMs;
      const sum = { label: labelOf(at, stepMs), jobs: 0, machineMs: 0, charged: 0 };
      for (const { account, jobs, machineMs, charged } of at > now ? [] : table.ofAccounts(at, at + stepMs)) {
        sum.jobs += jobs;
        sum.machineMs += machineMs;
        sum.charged += charged;
        if (stepMs === DAY_MS) chargedOf.set(account, (chargedOf.get(account) ?? 0) + charged);
      }
      read.push(sum);
      if (yielder.isDue) await yielder.pause();
    }
    return read;
  };
  const today = await slots(start, DAY_MS / HOUR_MS, HOUR_MS);
  return { today, month: await slots(firstDay, days, DAY_MS), chargedOf };
}

function labelOf(at: number, stepMs: number): string {
  const iso = new Date(at).toISOString();
  return stepMs === HOUR_MS ? iso.slice(11, 16) : iso.slice(0, 10);
}
