import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { COMMAND_FEATURE } from '../../remote/protocol/command.ts';
import { readFeatures } from '../plan/serviceLimits.ts';
import type { SelectedFile } from '../../workspace/files/selectedFile.ts';
import { accountLists, type JobSubmission, statedTerms } from '../../remote/protocol/jobTerms.ts';
import { batchFindings } from '../batch/batchTerms.ts';
import type { JobParameters } from '../ledger/parameters.ts';
import type { JobRecord } from '../ledger/record.ts';
import { firstDraft, type SubmitDraft, type SubmitIntent, type UsualTerms } from '../plan/draft.ts';
import { forecastPackages } from '../plan/packages.ts';
import { distinctFindings, jobFindings, type JobPlans } from '../plan/jobPlans.ts';
import { checkTerms, planSubmit, type SubmitPlan, type SubmitTarget } from '../plan/plan.ts';
import { refuseErrors } from '../plan/preflight.ts';
import type { CostEstimate } from '../plan/estimate.ts';
import { takesContents } from '../plan/serviceLimits.ts';
import { reviewFindings } from '../plan/reviewFindings.ts';
import {
  describeAccess,
  type GrantedAccess,
  missingConsent,
  needsConsent,
  type ProfileAccess,
  saveConsent,
  shownIncludes,
  withoutGranted,
} from '../profiles/profileConsent.ts';
import type { ProfileJob } from '../profiles/profileJob.ts';
import type { FileChoice } from '../selection/fileTree.ts';
import type { JobFinding } from '../selection/jobFinding.ts';
import type { JobReview, ReviewedJob } from '../selection/jobReview.ts';
import { scriptArguments, scriptPath, type StartedProgram } from '../selection/script.ts';
import type { SelectedFolder } from '../selection/selectedFolder.ts';
import { type SendPlanDeps, sendPlan } from '../send/pack.ts';
import { resubmitJob } from '../send/resubmit.ts';
import type { SendDeps, SubmitOptions } from '../send/send.ts';
import { createSweep } from '../sweeps/createSweep.ts';
import type { Sweep } from '../sweeps/sweep.ts';
import { requireCommand } from '../selection/commandLine.ts';
import { CommandScripts } from './commandScripts.ts';
import { readBatch } from './scriptTerms.ts';

/** What is to be submitted of a folder whose files are selected. */
export interface SubmitRequest {
  readonly choice: FileChoice;
  /** The files of the choice. */
  readonly selection: SelectedFolder;
  /** What runs, unless the terms say that; undefined if the user must choose. */
  readonly program: StartedProgram | undefined;
  /** The profile or batch script; undefined if the script may be one. */
  readonly job: ProfileJob | undefined;
  /** What the caller and the profile fix for a job. */
  readonly terms: (job: ProfileJob | undefined, parameters: JobParameters) => SubmitIntent;
  /** The other terms. */
  readonly usual: UsualTerms;
  /** Whether the commit may be read from `.git`. */
  readonly isTrusted: boolean;
}

/** A flow file as the script of jobs: the files that run it, which are sent too. Dispose it when they were. */
export interface FlowScript extends AsyncDisposable {
  readonly files: readonly SelectedFile[];
  /** The script of a job that runs the flow with these arguments. */
  scriptWith(args: string): string;
  /** Called once the job was sent. */
  sent(jobId: string): Promise<void>;
}

/** The files of the folder. */
export interface SubmitFolder {
  select(choice: FileChoice): Promise<SelectedFolder>;
  addFiles(selection: SelectedFolder, files: readonly SelectedFile[]): Promise<SelectedFolder>;
  /** Compares a job with the files to send. */
  review(selection: SelectedFolder, job: ReviewedJob): Promise<JobReview>;
  /** Undefined if the script is not a flow file. */
  prepareFlow(selection: SelectedFolder, script: string): Promise<FlowScript | undefined>;
}

/** What the user is asked. */
export interface SubmitQuestions {
  /** What runs; undefined if the user cancels. */
  chooseProgram(selection: SelectedFolder): Promise<StartedProgram | undefined>;
  /** Whether the profiles of the folder may do this from now on, which the sentence describes. */
  allowProfile(sentence: string, access: ProfileAccess): Promise<boolean>;
  /** The plans to send, which the user may have changed; undefined if the user cancels. Errors among the findings may be refused here. */
  confirm(preflight: Preflight): Promise<JobPlans | undefined>;
}

/** What is shown before anything is sent. */
export interface Preflight {
  readonly plans: JobPlans;
  readonly findings: readonly JobFinding[];
  /** What the profile does, in a sentence, and whether the user has just allowed some of it; undefined if nothing needs consent. */
  readonly access: { readonly sentence: string; readonly isNew: boolean } | undefined;
  /** Plans the only job with another draft, or again after files have changed. */
  readonly replan: (draft: SubmitDraft, hasChanged?: boolean) => Promise<SubmitPlan>;
}

/** The service that the jobs are sent to, and how. */
export interface SubmitService {
  readonly host: string;
  /** Its name in sentences. */
  readonly name: string;
  /** Whether the profile chose the host. */
  readonly isSwitch: boolean;
  /** What the command line itself allows a profile. */
  readonly granted?: GrantedAccess;
  /** Asks the service what the account has. */
  target(drafts: readonly SubmitDraft[]): Promise<SubmitTarget>;
  readonly deps: SendPlanDeps;
  /** Runs what packs and sends, and shows its progress. */
  send(plans: JobPlans, work: (options: SubmitOptions) => Promise<SubmittedJobs>): Promise<SubmittedJobs>;
}

/** The same for an archive that is stored. */
export interface StoredSubmitService {
  target(terms: readonly JobSubmission[]): Promise<SubmitTarget>;
  readonly deps: SendDeps;
  send(work: (options: SubmitOptions) => Promise<JobRecord>): Promise<JobRecord>;
}

/** A job that was sent, or a sweep that is stored and whose jobs `sendSweep` sends. */
export type SubmittedJobs =
  | { readonly type: 'job'; readonly record: JobRecord }
  | { readonly type: 'sweep'; readonly sweep: Sweep };

/**
 * Submits the jobs of a folder, once the user has agreed. All ways to submit go through this.
 *
 * @returns undefined if the user cancelled.
 * @throws AppError `bad-input` or `no-credits` if a plan has errors; otherwise as `reviewJobs`, `sendPlan` and `createSweep`.
 */
export async function submitJobs(
  request: SubmitRequest,
  folder: SubmitFolder,
  service: SubmitService,
  questions: SubmitQuestions,
): Promise<SubmittedJobs | undefined> {
  const program = request.program ?? (await questions.chooseProgram(request.selection));
  if (program === undefined) return undefined;
  await using jobs = await reviewJobs({ ...request, program }, folder);
  const access = await agree(request, service, questions);
  if (access === 'refused') return undefined;
  const target = await service.target(jobs.drafts);
  const plans = await jobs.plan(target);
  const findings = jobFindings(plans, target.budget);
  const replan = async (draft: SubmitDraft, hasChanged?: boolean): Promise<SubmitPlan> => {
    await jobs.change(draft, hasChanged);
    const [changed] = (await jobs.plan(target)).jobs;
    if (changed === undefined) throw new Error('One job has one plan.');
    return changed.plan;
  };
  const confirmed = await questions.confirm({ plans, findings, access, replan });
  if (confirmed === undefined) return undefined;
  refuseErrors(jobFindings(confirmed, target.budget));
  const { isTrusted } = request;
  const { deps } = service;
  return await service.send(confirmed, async (options): Promise<SubmittedJobs> => {
    const [first, ...others] = confirmed.jobs;
    if (first === undefined || others.length > 0)
      return { type: 'sweep', sweep: await createSweep(deps, confirmed, { ...options, isTrusted }) };
    const record = await sendPlan(deps, first.plan, { ...options, isTrusted });
    if (record.jobId !== null) await jobs.flow?.sent(record.jobId);
    return { type: 'job', record };
  });
}

/**
 * Sends the stored archive of an earlier job again, with its terms, once the user has agreed.
 *
 * @param confirm whether to send it.
 * @returns undefined if the user cancelled.
 * @throws AppError `bad-input` or `no-credits` if the service would refuse it; otherwise as `resubmitJob`.
 */
export async function submitStored(
  { id, script, maxRuntime, archiveBytes, ...record }: JobRecord,
  service: StoredSubmitService,
  confirm: (estimate: CostEstimate) => Promise<boolean>,
): Promise<JobRecord | undefined> {
  const terms = { ...statedTerms(record), script, maxRuntime };
  const target = await service.target([terms]);
  const { estimate, findings } = checkTerms(target, terms, archiveBytes ?? undefined);
  if (!(await confirm(estimate))) return undefined;
  refuseErrors(findings);
  const usesContents = takesContents(target.account);
  return service.send((options) => resubmitJob(service.deps, id, { ...options, usesContents }));
}

/**
 * Reads what the jobs of a request are, and compares them with the files to send. Asks no service.
 *
 * @throws AppError `bad-input` for a batch script that sbatch would refuse, or a sweep of several files one of which is a flow; as
 *   `request.terms`, `folder.prepareFlow` and `requireCommand`.
 */
export async function reviewJobs(
  {
    program,
    job,
    selection,
    choice,
    terms,
    usual,
  }: Omit<SubmitRequest, 'isTrusted'> & { readonly program: StartedProgram },
  folder: SubmitFolder,
): Promise<ReviewedJobs> {
  const { script, command } = program;
  const described = job ?? (await readBatch(selection.root, program));
  const {
    name = command === undefined ? scriptPath(script) : script,
    combinations = [{}],
    limits = NO_LIMITS,
  } = described ?? {};
  // What was remembered of a single job is not meant for each job of a sweep.
  const basis = combinations.length > 1 ? { ...usual, memory: { scripts: [] }, rates: [] } : usual;
  const drafts = combinations.map((parameters) => {
    return firstDraft(terms(described, parameters), program, basis);
  });
  for (const { command: words } of drafts) if (words !== undefined) requireCommand(words);
  const jobs = new ReviewedJobs(folder, { name, limits, combinations }, { choice, selection });
  await jobs.review(drafts);
  return jobs;
}

const NO_LIMITS = { concurrency: undefined, maxCost: undefined };
const NO_REVIEW: JobReview = {
  findings: [],
  packages: { findings: [], installed: undefined },
  packageLists: [],
  start: undefined,
};

interface Reviewed {
  readonly draft: SubmitDraft;
  readonly review: JobReview;
  /** The command line that starts it. */
  readonly script: string;
}

/** The jobs of a submit, compared with the files to send. */
export class ReviewedJobs implements AsyncDisposable {
  readonly #folder: SubmitFolder;
  readonly #described: Pick<ProfileJob, 'name' | 'limits' | 'combinations'>;
  readonly #temporary: AsyncDisposable[] = [];
  #choice: FileChoice;
  #selection: SelectedFolder;
  #complete: SelectedFolder;
  #jobs: readonly Reviewed[] = [];
  #flow: FlowScript | undefined;

  constructor(
    folder: SubmitFolder,
    described: Pick<ProfileJob, 'name' | 'limits' | 'combinations'>,
    known: Pick<SubmitRequest, 'choice' | 'selection'>,
  ) {
    this.#folder = folder;
    this.#described = described;
    this.#choice = known.choice;
    this.#selection = known.selection;
    this.#complete = known.selection;
  }

  /** The flow that all jobs run, each with its own arguments; undefined if none of them runs a flow. */
  get flow(): FlowScript | undefined {
    return this.#flow;
  }

  /** The parameters of each. */
  get combinations(): readonly JobParameters[] {
    return this.#described.combinations;
  }

  get drafts(): readonly SubmitDraft[] {
    return this.#jobs.map(({ draft }) => draft);
  }

  /** What is found without a service. */
  get findings(): readonly JobFinding[] {
    return distinctFindings(
      this.#jobs.flatMap(({ draft: { batch }, review: { findings, packages } }) => [
        ...findings,
        ...packages.findings,
        ...(batch === undefined ? [] : batchFindings(batch, undefined)),
      ]),
    );
  }

  /** Replaces the only job. Only another choice of files, or `hasChanged`, reads the folder again, which may take seconds. */
  async change(draft: SubmitDraft, hasChanged = false): Promise<void> {
    if (hasChanged || !isSameChoice(this.#choice, draft)) {
      this.#selection = await this.#folder.select(draft);
      this.#choice = draft;
    }
    await this.review([draft]);
  }

  /** Compares drafts with the files. */
  async review(drafts: readonly SubmitDraft[]): Promise<void> {
    const flow = await this.#prepareFlow(drafts);
    this.#complete = flow === undefined ? this.#selection : await this.#folder.addFiles(this.#selection, flow.files);
    const keyOf = ({ script, venv, command }: Pick<SubmitDraft, 'script' | 'venv' | 'command'>): string =>
      JSON.stringify([script, venv?.['requirements'], command]);
    const reviews = new Map<string, JobReview>([[keyOf({ script: '' }), NO_REVIEW]]);
    const jobs: Reviewed[] = [];
    for (const draft of drafts) {
      const key = keyOf(draft);
      const review = reviews.get(key) ?? (await this.#folder.review(this.#selection, draft));
      reviews.set(key, review);
      const script = flow?.scriptWith(scriptArguments(draft.script)) ?? draft.script;
      // A flow is started by a script of ours.
      jobs.push({ draft, script, review: flow === undefined ? review : { ...review, start: undefined } });
    }
    this.#jobs = jobs;
    this.#flow = flow;
  }

  /** The plans of the jobs on a service. */
  async plan(target: SubmitTarget): Promise<JobPlans> {
    const { name, limits, combinations } = this.#described;
    const forecasts = new Map<string, ReturnType<typeof forecastPackages>>();
    const { selection, scripts } = await this.#commandScripts(target);
    const plans = this.#jobs.map(async ({ draft, review, script }, index) => {
      const key = JSON.stringify(draft.venv);
      const forecast = forecasts.get(key) ?? forecastPackages(this.#complete.root, draft.venv, target.environments);
      forecasts.set(key, forecast);
      const commandScript = draft.command && scripts?.pathOf(draft.command);
      const findings = [
        ...reviewFindings(review, target, draft),
        ...(commandScript === undefined ? [] : [commandFinding(target, commandScript)]),
      ];
      const plan = planSubmit(target, draft, selection, findings, {
        forecast: await forecast,
        found: review.packageLists,
      });
      return { parameters: combinations[index] ?? {}, plan: { ...plan, script, commandScript } };
    });
    return { name, limits, jobs: await Promise.all(plans) };
  }

  /** The files to send, with the scripts of commands for a service that runs scripts only. */
  async #commandScripts({
    account,
  }: SubmitTarget): Promise<{ readonly selection: SelectedFolder; readonly scripts?: CommandScripts }> {
    const commands = this.drafts.map(({ command }) => command).filter((command) => command !== undefined);
    if (commands.length === 0 || readFeatures(account).includes(COMMAND_FEATURE)) return { selection: this.#complete };
    const scripts = await CommandScripts.write(commands);
    this.#temporary.push(scripts);
    return { selection: await this.#folder.addFiles(this.#complete, scripts.files), scripts };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const files of this.#temporary) await files[Symbol.asyncDispose]();
  }

  /** @throws AppError `bad-input` if they run different files, one of which is a flow: the folder is packed once, with one flow. */
  async #prepareFlow(drafts: readonly SubmitDraft[]): Promise<FlowScript | undefined> {
    const scripts = new Map(
      drafts.filter(({ command }) => command === undefined).map(({ script }) => [scriptPath(script), script]),
    );
    scripts.delete('');
    for (const [file, script] of scripts) {
      const flow = await this.#folder.prepareFlow(this.#selection, script);
      if (flow === undefined) continue;
      this.#temporary.push(flow);
      if (scripts.size === 1) return flow;
      const message = `The jobs of ${this.#described.name} run ${scripts.size} different files, and ${file} is a flow. Nothing was sent. Use one flow file for all jobs, and pass it arguments.`;
      throw new AppError('bad-input', message);
    }
    return undefined;
  }
}

function commandFinding({ service }: SubmitTarget, path: string): JobFinding {
  return {
    type: 'command',
    severity: 'warning',
    summary: printableLine(l10n.t('{0} runs scripts only, so the command is sent as {1}', service, path)),
    detail: l10n.t('This file is added to what is sent. Your folder stays as it is.'),
  };
}

function isSameChoice(a: FileChoice, b: FileChoice): boolean {
  const text = ({ include, exclude }: FileChoice): string => JSON.stringify([include, exclude]);
  return text(a) === text(b);
}

/** Asks once for each folder before a profile sends variables and included paths, uses secrets or volumes, or chooses the service. */
async function agree(
  { job, selection: { root, findings } }: Pick<SubmitRequest, 'job' | 'selection'>,
  { host, name, isSwitch, granted, deps: { home } }: SubmitService,
  questions: SubmitQuestions,
): Promise<Preflight['access'] | 'refused'> {
  if (job === undefined) return undefined;
  const { variables } = job;
  const include = shownIncludes(job.include, findings);
  const access = { host, isSwitch, variables, include, ...accountLists((term) => job[term]) };
  const missing = await missingConsent(home, root, withoutGranted(access, granted));
  if (missing !== undefined) {
    if (!(await questions.allowProfile(describeAccess(job, missing, name), missing))) return 'refused';
    await saveConsent(home, root, missing);
  }
  return needsConsent(access)
    ? { sentence: describeAccess(job, access, name), isNew: missing !== undefined }
    : undefined;
}
