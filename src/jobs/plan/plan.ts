import type { KeptEnvironment } from '../../remote/protocol/environment.ts';
import type { JobSubmission } from '../../remote/protocol/jobTerms.ts';
import { reportedAccountId } from '../log/otherAccount.ts';
import { batchFindings, chooseMachineClass } from '../batch/batchTerms.ts';
import type { JobFinding } from '../selection/jobFinding.ts';
import type { SelectedFolder } from '../selection/selectedFolder.ts';
import { LOCAL_HOST } from '../service/host.ts';
import { type BudgetCheck, budgetCheck } from './budgetCheck.ts';
import type { SubmitDraft } from './draft.ts';
import { type CostEstimate, estimateCost, highestCredits, type Rate, readRateCard } from './estimate.ts';
import { preflightJob } from './preflight.ts';
import { readLimits, takesContents } from './serviceLimits.ts';
import { mayListSecrets, secretFindings } from './secretFindings.ts';
import { type AccountVolume, readVolumes, volumeFindings } from './volumeFindings.ts';
import { keepsEnvironments, offeredLists, type PackagesForecast } from './packages.ts';

/** Where a job is sent. */
export interface SubmitTarget {
  readonly host: string;
  /** The name of the service in sentences. */
  readonly service: string;
  /** The response of `GET /v1/me`; undefined if there is none. */
  readonly account: unknown;
  readonly budget?: BudgetCheck;
  /** The names of the account's secrets; undefined if they are not known. */
  readonly secretNames?: readonly string[] | undefined;
  /** What the service keeps of packages that jobs of the account installed; undefined if it keeps none, or that is not known. */
  readonly environments?: readonly KeptEnvironment[] | undefined;
}

/** A draft applied to a folder and an account: what to show before it is sent, and all that sending needs. */
export interface SubmitPlan {
  readonly host: string;
  readonly draft: SubmitDraft;
  /** The command line that is sent: that of the draft, or of what starts its flow. */
  readonly script: string;
  /** The script that is sent to run the command, as the service runs scripts only. */
  readonly commandScript?: string | undefined;
  /** The files to send; `selection.root` is the folder. */
  readonly selection: SelectedFolder;
  readonly rates: readonly Rate[];
  readonly estimate: CostEstimate;
  /** What the service would refuse, or might. */
  readonly findings: readonly JobFinding[];
  /** The largest archive that the service accepts, if it states a limit. */
  readonly maxUploadBytes: number | undefined;
  /** The secrets that the job can get; undefined if the service stores none or they are not known. */
  readonly secretNames: readonly string[] | undefined;
  /** The volumes that the job can have. */
  readonly volumes: readonly AccountVolume[];
  /** What happens with the job's packages; undefined if it installs none, or that is not known. */
  readonly packages: PackagesForecast | undefined;
  /** The lists of packages in the folder that the service can install. */
  readonly packageLists: readonly string[];
  /** Those that it cannot. */
  readonly otherLists: readonly string[];
  /** Whether the service takes submissions by content. */
  readonly usesContents: boolean;
  /** The account that the job is charged to, if the service names it. */
  readonly accountId: string | undefined;
}

/** Where a service and this machine say what jobs can have. */
interface TargetSources {
  readonly budgets: Parameters<typeof budgetCheck>[0];
  listSecrets(): Promise<readonly { readonly name: string }[]>;
  listEnvironments(): Promise<readonly KeptEnvironment[]>;
}

/**
 * Asks what jobs can have on a service.
 *
 * @param drafts the jobs, if only what they need is asked.
 * @throws AppError as `readBudgets` does; the service's error.
 */
export async function readTarget(
  sources: TargetSources,
  { host, service, account }: Pick<SubmitTarget, 'host' | 'service' | 'account'>,
  drafts?: readonly JobSubmission[],
): Promise<SubmitTarget> {
  const needs = (isNeeded: (draft: JobSubmission) => boolean): boolean => drafts === undefined || drafts.some(isNeeded);
  const hasSecrets = mayListSecrets(account) && needs(({ secrets = [] }) => secrets.length > 0);
  const hasPackages = keepsEnvironments(account) && needs(({ venv }) => venv?.['requirements'] !== undefined);
  return {
    host,
    service,
    account,
    budget: await budgetCheck(sources.budgets, host),
    secretNames: hasSecrets ? (await sources.listSecrets()).map(({ name }) => name) : undefined,
    environments: hasPackages ? await sources.listEnvironments() : undefined,
  };
}

/**
 * The plan for a draft whose files are selected and which is reviewed.
 *
 * @param reviewed the findings of the review. @param found the lists of packages in the folder.
 */
export function planSubmit(
  target: SubmitTarget,
  asked: SubmitDraft,
  selection: SelectedFolder,
  reviewed: readonly JobFinding[] = [],
  {
    forecast,
    found = [],
  }: { readonly forecast?: PackagesForecast | JobFinding | undefined; readonly found?: readonly string[] } = {},
): SubmitPlan {
  const { host, account } = target;
  const draft = withMachineClass(asked, account);
  const { batch, machineClass } = draft;
  const checked = checkTerms(target, draft, selection.archiveBytes);
  return {
    host,
    draft,
    script: draft.script,
    selection,
    rates: readRateCard(account),
    estimate: checked.estimate,
    findings: [
      // Jobs of this machine see its files.
      ...reviewed.filter(({ type }) => host !== LOCAL_HOST || type !== 'absolute-path'),
      // The review has found the same.
      ...(forecast !== undefined && 'type' in forecast && !reviewed.some(isAboutPackages) ? [forecast] : []),
      ...(batch === undefined ? [] : batchFindings(batch, machineClass)),
      ...checked.findings,
    ],
    secretNames: target.secretNames,
    volumes: readVolumes(account),
    packages: forecast !== undefined && 'type' in forecast ? undefined : forecast,
    packageLists: offeredLists(found, account),
    otherLists: found.filter((list) => !offeredLists(found, account).includes(list)),
    usesContents: takesContents(account),
    maxUploadBytes: readLimits(account).maxUploadBytes,
    accountId: reportedAccountId(account),
  };
}

/** What the terms of a job cost on a service, and what it would refuse of them. @param archiveBytes the size of what is sent. */
export function checkTerms(
  target: SubmitTarget,
  { maxRuntime, machineClass, project, secrets = [], volumes = [], debug }: JobSubmission,
  archiveBytes?: number,
): Pick<SubmitPlan, 'estimate' | 'findings'> {
  const { account, service, budget } = target;
  const terms = { maxRuntime, machineClass, debug };
  const estimate = estimateCost(account, terms);
  const findings = [
    ...secretFindings(secrets, target),
    ...volumeFindings(volumes, target),
    ...preflightJob(account, { ...terms, estimatedBytes: archiveBytes }, service),
    ...(budget?.(project, highestCredits(estimate)) ?? []),
  ];
  return { estimate, findings };
}

function isAboutPackages({ type }: JobFinding): boolean {
  return type === 'packages';
}

/** A draft with the machine class for its batch script, unless it has one. */
function withMachineClass(draft: SubmitDraft, account: unknown): SubmitDraft {
  const request = draft.batch?.request;
  if (draft.batch === undefined || request === undefined || draft.machineClass !== undefined) return draft;
  const choice = chooseMachineClass(account, request);
  const { machineClass } = choice;
  // Chosen once, so that the user can choose another one afterwards.
  const batch = { ...draft.batch, request: undefined, choice };
  return { ...draft, ...(machineClass !== undefined && { machineClass }), batch };
}
