import * as l10n from '@vscode/l10n';
import { formatCredits } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import { type ProjectBudget, readBudgets } from '../ledger/projectBudgets.ts';
import type { JobRecord } from '../ledger/record.ts';
import { currentPeriods } from '../ledger/spending.ts';
import { type RefreshDeps, refreshJob } from '../log/refreshJob.ts';
import type { JobFinding } from '../selection/jobFinding.ts';
import { isMoreCredits } from './estimate.ts';

const MOST_UNFINISHED = 10_000;

/** What a project has spent and reserved of its budget this month. */
export interface BudgetState {
  /** Empty for jobs without a project. */
  readonly project: string;
  readonly budget: ProjectBudget;
  /** Credits that jobs were charged. */
  readonly spent: number;
  /** The most that its unfinished jobs can cost. */
  readonly reserved: number;
}

/** What the budgets say about a job. @param highest the most that it can cost, in credits; undefined if that is unknown. */
export type BudgetCheck = (project: string | undefined, highest: number | undefined) => readonly JobFinding[];

interface BudgetDeps {
  /** FARWHARF_HOME. */
  readonly home: string;
  readonly ledger: Pick<AsyncLedger, 'spending' | 'list' | 'update'>;
  /** Asked about unfinished jobs, for callers that do not follow them. */
  readonly service?: RefreshDeps['service'];
}

/** The state of each budget on a service. @throws AppError as `readBudgets` does. */
export async function budgetStates(
  { home, ledger, service }: BudgetDeps,
  host: string,
  now = Date.now(),
): Promise<readonly BudgetState[]> {
  const budgets = Object.entries(await readBudgets(home));
  if (budgets.length === 0) return [];
  const query = { host, isUnfinished: true, withRemoved: true, limit: MOST_UNFINISHED };
  if (service !== undefined) {
    const limited = (await ledger.list(query)).filter(({ project }) =>
      budgets.some(([name]) => name === (project ?? '')),
    );
    for (const record of limited) {
      // Jobs of a service that does not respond keep what they reserve.
      if (
        !(await refreshJob({ ledger, service }, record).then(
          () => true,
          () => false,
        ))
      )
        break;
    }
  }
  const spending = await ledger.spending(host, currentPeriods(now));
  const unfinished = await ledger.list(query);
  return budgets.map(([project, budget]) => ({
    project,
    budget,
    spent: spending.find((each) => (each.project ?? '') === project)?.thisMonth ?? 0,
    reserved: unfinished
      .filter((record) => (record.project ?? '') === project)
      .reduce((sum, record) => sum + reservedFor(record), 0),
  }));
}

/** Checks jobs against the budgets of this user on a service. @throws AppError as `readBudgets` does. */
export async function budgetCheck(deps: BudgetDeps, host: string): Promise<BudgetCheck> {
  const states = await budgetStates(deps, host);
  return (project = '', highest) => {
    const state = states.find((each) => each.project === project);
    return state === undefined ? [] : compare(state, highest);
  };
}

function compare(
  { project, budget, spent, reserved }: BudgetState,
  highest: number | undefined,
): readonly JobFinding[] {
  // What costs nothing fits in any budget, even one that is used up.
  if (highest === 0) return [];
  const { soft, hard } = budget;
  const used = spent + reserved;
  const finding = (severity: JobFinding['severity'], limit: number): JobFinding => {
    const taken = [formatCredits(used), formatCredits(limit)] as const;
    const detail =
      highest === undefined
        ? l10n.t(
            'The price of this submit is unknown, and {0} of {1} credits are spent or reserved by unfinished jobs.',
            ...taken,
          )
        : l10n.t(
            'It can cost up to {2}, and {0} of {1} credits are spent or reserved by unfinished jobs.',
            ...taken,
            formatCredits(highest),
          );
    const summary = summaryOf(severity, project);
    return { type: 'budget', severity, summary: printableLine(summary), detail: printableLine(detail) };
  };
  if (hard !== undefined && (highest === undefined || isMoreCredits(used + highest, hard)))
    return [finding('error', hard)];
  return soft !== undefined && isMoreCredits(used + (highest ?? 0), soft) ? [finding('warning', soft)] : [];
}

function summaryOf(severity: JobFinding['severity'], project: string): string {
  if (severity === 'error')
    return project === ''
      ? l10n.t('This submit could exceed the budget of jobs without a project for this month')
      : l10n.t('This submit could exceed the budget of project {0} for this month', project);
  return project === ''
    ? l10n.t('This submit could use up the budget of jobs without a project for this month')
    : l10n.t('This submit could use up the budget of project {0} for this month', project);
}

function reservedFor({ creditHold, creditsPerMinute, maxRuntime }: JobRecord): number {
  return creditsPerMinute === null ? (creditHold ?? 0) : (creditsPerMinute * maxRuntime) / 60;
}
