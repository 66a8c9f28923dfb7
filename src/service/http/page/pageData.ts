import { drainRefusal, withDrainReason } from '../../jobs/drainTexts.ts';
import type { MachineClasses } from '../../config/machineClasses.ts';
import type { Health } from '../../health/health.ts';
import type { Store } from '../../store/store.ts';
import type { AppContext } from '../access/appEnv.ts';
import { findJob } from '../access/findJob.ts';
import { isAllowed, outOfScope } from '../access/keyScopes.ts';
import { readLogPart } from './jobLog.ts';
import { readUsage } from './usageSlots.ts';
import type { ShownAccount, ShownJobs } from './views/jobsView.ts';
import type { ShownJob } from './views/jobView.ts';
import type { ShownService } from './views/operatorView.ts';

const JOBS_OF_PAGE = 50;
const OLDEST_JOBS = 50;
const MAX_ACCOUNTS = 500;

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
export function readAccount(
  context: AppContext,
  { store, health, machineClasses: { hasPrices } }: Sources,
): ShownAccount {
  const { account, visit } = context.var;
  const isRestricted = visit.key !== undefined && (visit.key.budget !== null || visit.key.scopes !== null);
  return {
    who: whoIs(context),
    spendable: hasPrices ? store.spendable(account.id, { keyId: visit.key?.id }).amount : undefined,
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
export function readJob(context: AppContext, { store }: Sources): ShownJob {
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
