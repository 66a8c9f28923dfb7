import { formatCredits } from '../../core/text/format.ts';
import type { JobRecord } from '../ledger/record.ts';
import type { BudgetState } from './budgetCheck.ts';
import { costSoFar } from './estimate.ts';

/** Running jobs that have used up their budget or all credits. */
export interface Overrun {
  /** A sentence without its full stop: `Project vision has used 101 of its 100 credits for this month`. */
  readonly reason: string;
  readonly jobs: readonly JobRecord[];
}

interface OverrunFacts {
  readonly budgets: readonly BudgetState[];
  /** The last reported balance; undefined if the service does not say. */
  readonly reported: { readonly balance: number; readonly asOf: string } | undefined;
  /** The unfinished jobs of the service. */
  readonly running: readonly JobRecord[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The projects whose hard budgets are used up, then, if no credits are left, all jobs that cost some. */
export function findOverruns({ budgets, reported, running, now }: OverrunFacts): readonly Overrun[] {
  const costly = running.filter((record) => (costSoFar(record, now) ?? 0) > 0);
  const overruns = budgets.flatMap(({ project, budget: { hard }, spent }): Overrun[] => {
    const jobs = costly.filter((record) => (record.project ?? '') === project);
    const used = jobs.reduce((sum, record) => sum + (costSoFar(record, now) ?? 0), spent);
    if (hard === undefined || jobs.length === 0 || used <= hard) return [];
    const name = project === '' ? 'Jobs without a project have' : `Project ${project} has`;
    const amounts = `${formatCredits(used)} of ${formatCredits(hard)} credits`;
    return [{ reason: `${name} used ${amounts} for this month`, jobs }];
  });
  const isEmpty = reported !== undefined && costly.length > 0 && balanceNow(reported, running, now) <= 0;
  return isEmpty ? [...overruns, { reason: 'No credits are left', jobs: costly }] : overruns;
}

/**
 * Credits left now. A service deducts the highest cost of a job from the balance when it accepts the job, and refunds the rest at the
 * end. So the part of those holds that jobs have not used yet is added to the reported balance.
 *
 * @param reported the balance, and when the service reported it. @param running jobs of that service. @param now milliseconds since 1970.
 */
export function balanceNow(
  reported: { readonly balance: number; readonly asOf: string },
  running: readonly JobRecord[],
  now: number,
): number {
  return running.reduce((balance, record) => {
    const hold = record.creditHold ?? 0;
    const held = record.createdAt < reported.asOf ? hold : 0;
    return balance + held - Math.min(costSoFar(record, now) ?? 0, hold);
  }, reported.balance);
}

/**
 * Seconds until a balance is used up if all running jobs run to their time limits; undefined if it is enough for that, as it always is
 * with a service that holds the highest cost of each job.
 *
 * @param balance credits left now, without what the jobs have used. @param now milliseconds since 1970.
 */
export function secondsUntilEmpty(balance: number, running: readonly JobRecord[], now: number): number | undefined {
  const jobs = running
    .map((record) => minutesLeft(record, now))
    .filter((job) => job !== undefined)
    .sort((a, b) => a.minutes - b.minutes);
  let rate = jobs.reduce((sum, job) => sum + job.rate, 0);
  let left = balance;
  let passed = 0;
  for (const job of jobs) {
    const cost = rate * (job.minutes - passed);
    if (cost > left) return 60 * (passed + Math.max(0, left) / rate);
    left -= cost;
    passed = job.minutes;
    rate -= job.rate;
  }
  return undefined;
}

/** Undefined for a job that costs nothing now. */
function minutesLeft(record: JobRecord, now: number): { readonly minutes: number; readonly rate: number } | undefined {
  const rate = record.creditsPerMinute;
  const cost = costSoFar(record, now);
  if (rate === null || rate === 0 || cost === null) return undefined;
  return { minutes: record.maxRuntime / 60 - cost / rate, rate };
}
