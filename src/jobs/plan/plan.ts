import type { KeptEnvironment } from '../../remote/protocol/environment.ts';
import { reportedAccountId } from '../log/otherAccount.ts';
import { batchFindings, chooseMachineClass } from '../batch/batchTerms.ts';
import type { FileChoice } from '../selection/fileTree.ts';
import type { JobFinding } from '../selection/jobFinding.ts';
import type { JobReview, ReviewedJob } from '../selection/jobReview.ts';
import type { SelectedFolder } from '../selection/selectedFolder.ts';
import { LOCAL_HOST } from '../service/host.ts';
import type { BudgetCheck } from './budgetCheck.ts';
import type { SubmitDraft } from './draft.ts';
import { type CostEstimate, estimateCost, highestCredits, type Rate, readRateCard } from './estimate.ts';
import { reviewFindings } from './reviewFindings.ts';
import { preflightJob } from './preflight.ts';
import { readLimits, takesContents } from './serviceLimits.ts';
import { secretFindings } from './secretFindings.ts';
import { type AccountVolume, readVolumes, volumeFindings } from './volumeFindings.ts';
import { forecastPackages, offeredLists, type PackagesForecast } from './packages.ts';

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
  /** Whether the service takes submissions by content. */
  readonly usesContents: boolean;
  /** The account that the job is charged to, if the service names it. */
  readonly accountId: string | undefined;
}

export interface FolderReader {
  select(choice: FileChoice): Promise<SelectedFolder>;
  /** The selection, with additional files if the script needs them to run. */
  withRuntime(selection: SelectedFolder, script: string): Promise<SelectedFolder>;
  /** Compares a job with the files to send. */
  review(selection: SelectedFolder, job: ReviewedJob): Promise<JobReview>;
}

/**
 * The plan for a draft whose files are selected and which is reviewed.
 *
 * @param reviewed the findings of the review.
 */
export function planSubmit(
  target: SubmitTarget,
  asked: SubmitDraft,
  selection: SelectedFolder,
  reviewed: readonly JobFinding[] = [],
  packages?: PackagesForecast | JobFinding,
): SubmitPlan {
  const { host, service, account, budget } = target;
  const draft = withMachineClass(asked, account);
  const { batch, machineClass, maxRuntime } = draft;
  const terms = { maxRuntime, machineClass };
  const estimate = estimateCost(account, terms);
  return {
    host,
    draft,
    selection,
    rates: readRateCard(account),
    estimate,
    findings: [
      // Jobs of this machine see its files.
      ...reviewed.filter(({ type }) => host !== LOCAL_HOST || type !== 'absolute-path'),
      // The review has found the same.
      ...(packages !== undefined && 'type' in packages && !reviewed.some(isAboutPackages) ? [packages] : []),
      ...secretFindings(draft.secrets ?? [], target),
      ...volumeFindings(draft.volumes ?? [], target),
      ...(batch === undefined ? [] : batchFindings(batch, machineClass)),
      ...preflightJob(account, { ...terms, estimatedBytes: selection.archiveBytes }, service),
      ...(budget?.(draft.project, highestCredits(estimate)) ?? []),
    ],
    secretNames: target.secretNames,
    volumes: readVolumes(account),
    packages: packages !== undefined && 'type' in packages ? undefined : packages,
    packageLists: offeredLists(selection.packageLists, account),
    usesContents: takesContents(account),
    maxUploadBytes: readLimits(account).maxUploadBytes,
    accountId: reportedAccountId(account),
  };
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

/**
 * Returns a function that plans drafts for one folder.
 *
 * @param known the current selection. Only another choice of files, or `hasChanged`, reads the folder again, which may take seconds.
 */
export function createPlanner(
  target: SubmitTarget,
  folder: FolderReader,
  known: { readonly choice: FileChoice; readonly selection: SelectedFolder },
): (draft: SubmitDraft, hasChanged?: boolean) => Promise<SubmitPlan> {
  let { choice, selection } = known;
  return async (draft, hasChanged = false) => {
    if (hasChanged || !isSameChoice(choice, draft)) {
      selection = await folder.select(draft);
      choice = draft;
    }
    const complete = await folder.withRuntime(selection, draft.script);
    const [review, packages] = await Promise.all([
      folder.review(complete, draft),
      forecastPackages(complete.root, draft.venv, target.environments),
    ]);
    // A flow is started by a script of ours.
    const start = complete === selection ? review.start : undefined;
    return planSubmit(target, draft, complete, reviewFindings({ ...review, start }, target, draft), packages);
  };
}

function isSameChoice(a: FileChoice, b: FileChoice): boolean {
  const text = ({ include, exclude }: FileChoice): string => JSON.stringify([include, exclude]);
  return text(a) === text(b);
}
