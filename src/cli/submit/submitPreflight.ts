import { messageOf } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { JobFinding } from '../../jobs/selection/jobFinding.ts';
import { fetchAccount } from '../../jobs/service/api.ts';
import type { SubmitDraft } from '../../jobs/plan/draft.ts';
import {
  hasPricedJobs,
  highestPlannedCost,
  jobFindings,
  type JobPlans,
  plannedHours,
} from '../../jobs/plan/jobPlans.ts';
import { readTarget, type SubmitPlan, type SubmitTarget } from '../../jobs/plan/plan.ts';
import { describeFinding, isAboutCredits } from '../../jobs/plan/preflight.ts';
import { EXIT } from '../command/exit.ts';
import type { ReviewedJobs } from '../../jobs/submit/submit.ts';
import type { Session } from '../command/session.ts';

// Long enough for a service that is starting, short enough without a network.
const DRY_RUN_TIMEOUT_SECONDS = 10;

const FLAGS: Readonly<Record<JobFinding['type'], string>> = {
  'machine-class': 'Select one with --machine-class.',
  'time-limit': 'Set a shorter limit with --max-runtime SECONDS.',
  debug: 'Set a shorter one with --hold MINUTES.',
  credits: 'Set a shorter --max-runtime, or select a cheaper --machine-class.',
  budget: 'Change it with farwharf budget set.',
  'upload-size': 'List the files with --dry-run.',
  batch: '',
  secrets: '',
  volumes: '',
  packages: '',
  script: 'Specify another file with --script.',
  command: '',
  'line-ends': 'Farwharf offers to rewrite it if you submit in a terminal.',
  'left-out-read': 'Send it with --include PATH.',
  'outside-read': '',
  'absolute-path': '',
};

/** The problems that a dry run found. */
export interface DryRunFindings {
  readonly findings: readonly JobFinding[];
  /** Why limits and prices were not checked; undefined if they were. */
  readonly unchecked: string | undefined;
  /** Undefined if the service was not reached. */
  readonly plans: JobPlans | undefined;
}

/** Where a session sends jobs, with what they need there. @throws AppError as `readBudgets` does; the service's or the system's error. */
export async function targetOf(
  session: Session,
  drafts: readonly SubmitDraft[],
  options: { readonly signal: AbortSignal; readonly timeout?: number },
): Promise<SubmitTarget> {
  const { home, host, asyncLedger: ledger, hostName: service } = session;
  const client = await session.client();
  const sources = {
    budgets: { home, ledger, service: session.sender() },
    listSecrets: () => client.listSecrets(),
    listEnvironments: () => client.listEnvironments(),
  };
  return readTarget(sources, { host, service, account: await fetchAccount(() => client.me(options)) }, drafts);
}

/** Checks jobs that are not sent. An unreachable service is not a failure: a dry run works without one. */
export async function checkDryRun(
  openSession: () => Session,
  jobs: ReviewedJobs,
  signal: AbortSignal,
): Promise<DryRunFindings> {
  try {
    await using session = openSession();
    const target = await targetOf(session, jobs.drafts, { signal, timeout: DRY_RUN_TIMEOUT_SECONDS });
    const plans = await jobs.plan(target);
    return { findings: jobFindings(plans, target.budget), unchecked: undefined, plans };
  } catch (error) {
    signal.throwIfAborted();
    const unchecked = `Limits and prices were not checked: ${printableLine(messageOf(error))}`;
    return { findings: jobs.findings, unchecked, plans: undefined };
  }
}

/** The plan of the only job; undefined for a sweep, and if the service was not reached. */
export function onlyPlan({ plans }: DryRunFindings): SubmitPlan | undefined {
  const [first, ...others] = plans?.jobs ?? [];
  return others.length === 0 ? first?.plan : undefined;
}

/** A finding in sentences, with the flag that fixes it. */
export function describeWithFlag(finding: JobFinding): string {
  return `${describeFinding(finding)} ${FLAGS[finding.type]}`.trimEnd();
}

/** The findings as `submit --dry-run --json` shows them. */
export function findingsAsJson({ findings, unchecked }: DryRunFindings): readonly object[] {
  const found = findings.map((finding) => ({
    type: finding.type,
    severity: finding.severity,
    message: describeFinding(finding),
  }));
  return unchecked === undefined ? found : [...found, { type: 'unchecked', severity: 'warning', message: unchecked }];
}

/** The terms of the only job, the highest cost of all, without a price their highest use of the machine, and the credits left, as `submit --dry-run --json` shows them; null where they are unknown. */
export function estimateAsJson(dryRun: DryRunFindings): object {
  const { plans } = dryRun;
  const plan = onlyPlan(dryRun);
  const highest = plans && highestPlannedCost(plans);
  const hours = plans === undefined || hasPricedJobs(plans) ? undefined : plannedHours(plans);
  return {
    ...(plan && {
      script: plan.script,
      ...(plan.draft.command && { command: plan.draft.command }),
      max_runtime: plan.draft.maxRuntime,
      machine_class: plan.draft.machineClass ?? null,
      project: plan.draft.project ?? null,
    }),
    max_credits: highest === undefined ? null : Math.min(highest, plans?.limits.maxCost ?? Infinity),
    max_core_hours: hours?.core ?? null,
    max_gpu_hours: hours?.gpu ?? null,
    credits: plans?.jobs[0]?.plan.estimate.balance ?? null,
  };
}

/** The exit status of a dry run: the same as that of the submit. */
export function exitOfFindings(findings: readonly JobFinding[]): number {
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return EXIT.done;
  return isAboutCredits(errors) ? EXIT.noCredits : EXIT.badUse;
}
