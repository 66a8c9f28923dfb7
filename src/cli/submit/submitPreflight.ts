import { messageOf } from '../../core/errors.ts';
import { hoursOf } from '../../core/text/machineHours.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { JobFinding } from '../../jobs/selection/jobFinding.ts';
import { classifyFailure } from '../../core/network/classifyFailure.ts';
import type { SubmitDraft, SubmitIntent } from '../../jobs/plan/draft.ts';
import { type CostEstimate, highestCredits } from '../../jobs/plan/estimate.ts';
import type { SubmitPlan, SubmitTarget } from '../../jobs/plan/plan.ts';
import { storesSecrets } from '../../jobs/plan/secretFindings.ts';
import { keepsEnvironments, type PackagesForecast } from '../../jobs/plan/packages.ts';
import { budgetCheck } from '../../jobs/plan/budgetCheck.ts';
import { describeFinding, isAboutCredits } from '../../jobs/plan/preflight.ts';
import type { RemoteClient } from '../../remote/client.ts';
import type { Account } from '../../remote/protocol/schemas.ts';
import { EXIT } from '../command/exit.ts';
import type { Session } from '../session/session.ts';

// Long enough for a service that is starting, short enough without a network.
const DRY_RUN_TIMEOUT_SECONDS = 10;

const FLAGS: Readonly<Record<JobFinding['type'], string>> = {
  'machine-class': 'Select one with --machine-class.',
  'time-limit': 'Set a shorter limit with --max-runtime SECONDS.',
  credits: 'Set a shorter --max-runtime, or select a cheaper --machine-class.',
  budget: 'Change it with farwharf budget set.',
  'upload-size': 'List the files with --dry-run.',
  batch: '',
  secrets: '',
  volumes: '',
  packages: '',
  script: 'Specify another file with --script.',
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
  readonly estimate?: CostEstimate;
  /** The terms of the job; undefined for a sweep, and if the service was not reached. */
  readonly draft?: SubmitDraft;
  /** Undefined if the job installs no packages, or that is not known. */
  readonly packages?: PackagesForecast | undefined;
}

/** The account; undefined if the service has no accounts (404). @throws the service's or the system's error. */
export async function readAccount(
  client: RemoteClient,
  options: { readonly signal: AbortSignal; readonly timeout?: number },
): Promise<Account | undefined> {
  try {
    return await client.me(options);
  } catch (error) {
    if (classifyFailure(error) === 'missing') return undefined;
    throw error;
  }
}

/** Where a session sends jobs, with the budgets there, and with secrets' names and kept environments if the job needs some. @throws AppError as `readBudgets` does. */
export async function targetOf(
  session: Session,
  account: unknown,
  { secrets = [], venv }: Pick<SubmitIntent, 'secrets' | 'venv'>,
): Promise<SubmitTarget> {
  const { home, host, asyncLedger: ledger, hostName: service } = session;
  const budget = await budgetCheck({ home, ledger, service: session.sender() }, host);
  const isAsking = secrets.length > 0 && storesSecrets(account);
  const stored = isAsking ? await (await session.client()).listSecrets() : undefined;
  const isInstalling = venv?.['requirements'] !== undefined && keepsEnvironments(account);
  const environments = isInstalling ? await (await session.client()).listEnvironments() : undefined;
  return { host, service, account, budget, environments, secretNames: stored?.map(({ name }) => name) };
}

/**
 * Checks a job that is not sent. An unreachable service is not a failure: a dry run works without one.
 *
 * @param local the findings that need no service.
 */
export async function checkDryRun(
  openSession: () => Session,
  plan: (target: SubmitTarget) => Promise<Pick<SubmitPlan, 'findings'> & Partial<DryRunFindings>>,
  {
    local,
    intent,
    signal,
  }: { readonly local: readonly JobFinding[]; readonly intent: SubmitIntent; readonly signal: AbortSignal },
): Promise<DryRunFindings> {
  try {
    await using session = openSession();
    const account = await readAccount(await session.client(), { signal, timeout: DRY_RUN_TIMEOUT_SECONDS });
    const { findings, estimate, draft, packages } = await plan(await targetOf(session, account, intent));
    return { findings, unchecked: undefined, packages, ...(estimate && { estimate }), ...(draft && { draft }) };
  } catch (error) {
    signal.throwIfAborted();
    return { findings: local, unchecked: `Limits and prices were not checked: ${printableLine(messageOf(error))}` };
  }
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

/** The terms of the job, its highest cost, without a price its highest use of the machine, and the credits left, as `submit --dry-run --json` shows them; null where they are unknown. */
export function estimateAsJson({ estimate, draft }: DryRunFindings): object {
  const hours = estimate?.type === 'unpriced' ? hoursOf(estimate.machine, estimate.maxRuntime) : undefined;
  return {
    ...(draft && {
      script: draft.script,
      max_runtime: draft.maxRuntime,
      machine_class: draft.machineClass ?? null,
      project: draft.project ?? null,
    }),
    max_credits: estimate === undefined ? null : (highestCredits(estimate) ?? null),
    max_core_hours: hours?.core ?? null,
    max_gpu_hours: hours?.gpu ?? null,
    credits: estimate?.balance ?? null,
  };
}

/** The exit status of a dry run: the same as that of the submit. */
export function exitOfFindings(findings: readonly JobFinding[]): number {
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return EXIT.done;
  return isAboutCredits(errors) ? EXIT.noCredits : EXIT.badUse;
}
