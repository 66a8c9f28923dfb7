import { addHours, describeHours, hoursOf, type MachineHours, NO_HOURS } from '../../core/text/machineHours.ts';
import type { JobParameters } from '../ledger/parameters.ts';
import type { JobFinding } from '../selection/jobFinding.ts';
import type { BudgetCheck } from './budgetCheck.ts';
import { highestCredits } from './estimate.ts';
import type { SubmitPlan } from './plan.ts';

/** What the jobs of a sweep may use together; undefined for no limit. */
export interface SweepLimits {
  /** How many jobs may be unfinished at the same time. */
  readonly concurrency: number | undefined;
  /** Credits. */
  readonly maxCost: number | undefined;
}

/** One of several jobs, or the only one, before it is sent. */
interface PlannedJob {
  readonly parameters: JobParameters;
  readonly plan: SubmitPlan;
}

/** The jobs of a submit before they are sent. */
export interface JobPlans {
  /** The name of the profile or script. */
  readonly name: string;
  readonly limits: SweepLimits;
  readonly jobs: readonly PlannedJob[];
}

/** The most that all jobs can cost together; undefined if a price is unknown. */
export function highestPlannedCost({ jobs }: Pick<JobPlans, 'jobs'>): number | undefined {
  let total = 0;
  for (const { plan } of jobs) {
    const highest = highestCredits(plan.estimate);
    if (highest === undefined) return undefined;
    total += highest;
  }
  return total;
}

/** Whether any job can cost credits, so that their sum means something. */
export function hasPricedJobs({ jobs }: Pick<JobPlans, 'jobs'>): boolean {
  return jobs.some(({ plan }) => plan.estimate.type !== 'unpriced');
}

/** The most that the jobs without a price can use together. */
export function plannedHours({ jobs }: Pick<JobPlans, 'jobs'>): MachineHours {
  const hours = jobs.map(({ plan: { estimate } }) =>
    estimate.type === 'unpriced' ? hoursOf(estimate.machine, estimate.maxRuntime) : NO_HOURS,
  );
  return hours.reduce(addHours, NO_HOURS);
}

/** `4 core-hours, 1 GPU-hour`: the same as text; empty if there are none. */
export function describePlannedHours(plans: Pick<JobPlans, 'jobs'>): string {
  return describeHours(plannedHours(plans));
}

/** What the service would refuse of any job, each once, and what the budgets say about all jobs of a project together. */
export function jobFindings({ jobs, limits }: JobPlans, budget?: BudgetCheck): readonly JobFinding[] {
  const projects = Map.groupBy(jobs, ({ plan }) => plan.draft.project);
  const budgets = [...projects].flatMap(([project, own]) => {
    const cost = highestPlannedCost({ jobs: own });
    return budget?.(project, cost === undefined ? undefined : Math.min(cost, limits.maxCost ?? Infinity)) ?? [];
  });
  return distinctFindings([
    ...jobs.flatMap(({ plan }) => plan.findings.filter(({ type }) => type !== 'budget')),
    ...budgets,
  ]);
}

/** Each finding once. */
export function distinctFindings(findings: readonly JobFinding[]): readonly JobFinding[] {
  return [...new Map(findings.map((finding) => [`${finding.type} ${finding.summary}`, finding])).values()];
}
