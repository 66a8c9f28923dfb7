import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { Yielder } from '../../core/processes/yielder.ts';
import { toCredits } from '../store/accounts/creditLedger.ts';
import type { UsageSum, UsageTable } from '../store/accounts/usageTable.ts';
import { operation } from './operation.ts';

const DAY_MS = 86_400_000;
const MS_OF_MINUTE = 60_000;
const MAX_DAYS = 3_660;

/** What the jobs of a row have in common. */
export const USAGE_GROUPS = ['account', 'group', 'project', 'class'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

const usageRow = z.object({
  /** These two if the report is by account. */
  account_id: z.string().optional(),
  name: z.string().optional(),
  /** If the report is by group: that of the account when it submitted; null for none. */
  group: z.string().nullable().optional(),
  /** If the report is by project; null for jobs without one. Accounts may use the same project. */
  project: z.string().nullable().optional(),
  /** If the report is by class. */
  machine_class: z.string().optional(),
  jobs: z.int(),
  machine_minutes: z.number(),
  credits: z.number(),
});
export type UsageRow = z.infer<typeof usageRow>;

export const usageOperations = {
  /** The jobs that ended on these days (UTC), first and last included. Jobs are charged when they end. */
  'usage.report': operation({
    input: z.object({
      from: z.iso.date(),
      to: z.iso.date(),
      account_id: z.string().optional(),
      by: z.array(z.enum(USAGE_GROUPS)).min(1).default(['account', 'class']),
    }),
    output: z.object({ from: z.iso.date(), to: z.iso.date(), rows: z.array(usageRow) }),
    async run({ store }, { from, to, account_id: id, by }) {
      const account = id === undefined ? undefined : store.accounts.get(id).id;
      const days = { from: Date.parse(from), to: Date.parse(to) + DAY_MS };
      const sums = await sumDays(store.usage, days, by, account);
      const rows = sums.map((usage) => ({
        ...(by.includes('account') && { account_id: usage.account, name: store.accounts.get(usage.account).name }),
        ...(by.includes('group') && { group: usage.group }),
        ...(by.includes('project') && { project: usage.project }),
        ...(by.includes('class') && { machine_class: usage.machineClass }),
        jobs: usage.jobs,
        machine_minutes: Math.round((usage.machineMs / MS_OF_MINUTE) * 1_000) / 1_000,
        credits: toCredits(usage.charged),
      }));
      return { from, to, rows };
    },
  }),
};

/** Adds up day by day, so that a service with a million jobs can respond to other requests in between. */
async function sumDays(
  table: UsageTable,
  { from, to }: { readonly from: number; readonly to: number },
  by: readonly UsageGroup[],
  account?: string,
): Promise<readonly UsageSum[]> {
  if (to <= from)
    throw new AppError('bad-input', 'The report would end before it begins. Set --from to the earlier day.');
  if (to - from > MAX_DAYS * DAY_MS) throw new AppError('bad-input', 'A report can cover ten years at most.');
  const sums = new Map<string, UsageSum>();
  const yielder = new Yielder();
  for (let day = from; day < to; day += DAY_MS) {
    for (const usage of table.read(day, Math.min(to, day + DAY_MS), account)) {
      const { account: owner, group: team, project, machineClass } = usage;
      const values = { account: owner, group: team ?? '', project: project ?? '', class: machineClass };
      // No ID and no name has a character that sorts before this one.
      const name = by.map((group) => values[group]).join('\0');
      const sum = sums.get(name);
      sums.set(name, sum === undefined ? usage : add(sum, usage));
    }
    if (yielder.isDue) await yielder.pause();
  }
  return [...sums.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

function add(sum: UsageSum, { jobs, machineMs, charged }: UsageSum): UsageSum {
  return {
    ...sum,
    jobs: sum.jobs + jobs,
    machineMs: sum.machineMs + machineMs,
    charged: sum.charged + charged,
  };
}
