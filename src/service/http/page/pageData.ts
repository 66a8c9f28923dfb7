import { drainRefusal, withDrainReason } from '../../jobs/drainTexts.ts';
import type { MachineClasses } from '../../config/machineClasses.ts';
import type { Health } from '../../health/health.ts';
import type { Store } from '../../store/store.ts';
import type { AppContext } from '../access/appEnv.ts';
import { findJob } from '../access/findJob.ts';
import { isAllowed, outOfScope } from '../access/keyScopes.ts';
import type { ShownAccount, ShownJobs } from './jobsView.ts';
import type { OutputPart, JobOfPage } from './jobView.ts';
import type { ShownService, ShownUsage } from './operatorView.ts';
import { printableText } from '../../../core/text/printable.ts';
import { logEventData } from '../../../remote/protocol/schemas.ts';
import type { EventTable } from '../../store/jobs/eventTable.ts';
import { Yielder } from '../../../core/processes/yielder.ts';
import type { UsageTable } from '../../store/accounts/usageTable.ts';
import type { Slot } from './barPlot.ts';

const JOBS_OF_PAGE = 50;
const OLDEST_JOBS = 50;
const MAX_ACCOUNTS = 500;

// Of one part, before it is cleaned: some thousand lines.
const PART_CHARACTERS = 200_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface Sources {
  readonly store: Store;
  readonly health: Health;
  readonly machineClasses: Pick<MachineClasses, 'hasPrices'>;
  readonly version: string;
}

/** The account as shown in the header of a page. */
export function whoIs({ var: { account } }: AppContext): string {
  return account.name === account.id ? account.id : `${account.name} (${account.id})`;
}

/**
 * What `/v1/me` returns to the key of the session; without restrictions also what is reserved and spent, which its jobs add up to. No
 * credits if no machine class has a price.
 */
export function accountOfPage(
  context: AppContext,
  { store, health, machineClasses: { hasPrices } }: Sources,
): ShownAccount {
  const { account, caller } = context.var;
  const isRestricted = caller.key !== undefined && (caller.key.budget !== null || caller.key.scopes !== null);
  return {
    who: whoIs(context),
    spendable: hasPrices ? store.spendable(account.id, { keyId: caller.key?.id }).amount : undefined,
    balances: isRestricted || !hasPrices ? undefined : store.balances(account.id),
    refusal: health.drain === undefined ? health.executorRefusal : drainRefusal(health.drain),
  };
}

/** The jobs of the account; undefined for a key that may not read them. @throws HTTPException 404 for an unknown `before`. */
export function readJobs(context: AppContext, { store }: Sources): ShownJobs | undefined {
  if (!isAllowed(context, 'read')) return undefined;
  const before = context.req.query('before');
  const start = before === undefined ? undefined : findJob(context, store, before);
  const found = store.jobs.list(context.var.account.id, JOBS_OF_PAGE + 1, start);
  const jobs = found.slice(0, JOBS_OF_PAGE);
  const drain = store.drain.get();
  return {
    jobs: jobs.map((job) => withDrainReason(job, drain)),
    next: found.length > jobs.length ? jobs.at(-1)?.id : undefined,
    isFirstPage: start === undefined,
  };
}

/** A job of the account with a part of its output. @throws HTTPException 403, or 404 as for a job that never existed. */
export function readJob(context: AppContext, { store }: Sources): JobOfPage {
  if (!isAllowed(context, 'read')) throw outOfScope('read');
  const job = withDrainReason(findJob(context, store), store.drain.get());
  const text = context.req.query('before') ?? '';
  const before = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
  const log = readLogPart(store.events, job.number, before);
  return { who: whoIs(context), job, log, isLastPart: before === undefined };
}

export async function readService({ store, health, version }: Sources): Promise<ShownService> {
  const accounts = store.accounts.list();
  return {
    version,
    health: await health.report(),
    counts: store.jobs.countByState(),
    oldest: store.jobs.oldestUnfinished(OLDEST_JOBS),
    usage: await readUsage(store.usage, Date.now()),
    accounts: accounts.slice(0, MAX_ACCOUNTS).map((account) => {
      return { account, balances: store.balances(account.id), ...store.jobs.countOf(account.id) };
    }),
    accountCount: accounts.length,
  };
}

/**
 * The part of a job's output that ends before the event `before`, or at its end. Of a line that was redrawn, such as a progress bar, only
 * the last state is shown.
 */
function readLogPart(events: Pick<EventTable, 'pageBefore'>, jobNumber: number, before?: number): OutputPart {
  const page = events.pageBefore(jobNumber, before ?? Number.MAX_SAFE_INTEGER, PART_CHARACTERS);
  const output = page
    .map(({ type, data }) => (type === 'log' ? logEventData.parse(JSON.parse(data)).text : ''))
    .join('');
  const lines = output.split(/\r?\n/).map((line) => line.split('\r').findLast((part) => part !== '') ?? '');
  const first = page[0]?.id ?? 1;
  return { text: printableText(lines.join('\n')), earlier: first > 1 ? first : undefined };
}

/** Adds up the jobs that ended today and this month, span by span, so that other requests are answered in between. */
async function readUsage(table: Pick<UsageTable, 'ofAccounts'>, now: number): Promise<ShownUsage> {
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
