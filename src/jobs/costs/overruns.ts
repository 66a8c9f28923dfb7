import { formatCredits } from '../../core/text/format.ts';
import type { JobRecord } from '../ledger/record.ts';
import { balanceNow } from './balanceForecast.ts';
import type { BudgetState } from '../plan/budgetCheck.ts';
import { costSoFar } from '../plan/estimate.ts';

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
