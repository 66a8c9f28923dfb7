import { randomUUID } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { AppError } from '../../core/errors.ts';
import { addHours, describeHours, hoursOf, NO_HOURS } from '../../core/text/machineHours.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import { ArchiveStore } from '../archives/archives.ts';
import { describeParameters, type JobParameters } from '../ledger/parameters.ts';
import type { SweepLimits } from '../profiles/profileJob.ts';
import { readGitState } from '../../workspace/git/gitState.ts';
import type { JobFinding } from '../selection/jobFinding.ts';
import type { BudgetCheck } from '../plan/budgetCheck.ts';
import { highestCredits, recordedPrice } from '../plan/estimate.ts';
import type { SubmitPlan } from '../plan/plan.ts';
import { checkArchiveSize } from '../plan/preflight.ts';
import { draftRecord, type SubmitDeps, type SubmitOptions } from '../send/pack.ts';
import { checkCostLimit, type Sweep } from './sweep.ts';
import { SweepStore } from './sweepStore.ts';

const SLUG_LENGTH = 80;

/** One job of a sweep that can still be changed. */
interface PlannedJob {
  readonly parameters: JobParameters;
  readonly plan: SubmitPlan;
}

export interface SweepPlan {
  /** The name of the profile. */
  readonly name: string;
  readonly limits: SweepLimits;
  readonly jobs: readonly PlannedJob[];
}

/** The most that all jobs can cost together; undefined if a price is unknown. */
export function highestPlannedCost({ jobs }: Pick<SweepPlan, 'jobs'>): number | undefined {
  let total = 0;
  for (const { plan } of jobs) {
    const highest = highestCredits(plan.estimate);
    if (highest === undefined) return undefined;
    total += highest;
  }
  return total;
}

/** Whether any job can cost credits, so that their sum means something. */
export function hasPricedJobs({ jobs }: Pick<SweepPlan, 'jobs'>): boolean {
  return jobs.some(({ plan }) => plan.estimate.type !== 'unpriced');
}

/** `4 core-hours, 1 GPU-hour`: the most that the jobs without a price can use together; empty if there are none. */
export function describePlannedHours({ jobs }: Pick<SweepPlan, 'jobs'>): string {
  const hours = jobs.map(({ plan: { estimate } }) =>
    estimate.type === 'unpriced' ? hoursOf(estimate.machine, estimate.maxRuntime) : NO_HOURS,
  );
  return describeHours(hours.reduce(addHours, NO_HOURS));
}

/** What the service would refuse of any job, each once, and what the budgets say about all jobs of a project together. */
export function sweepFindings({ jobs, limits }: SweepPlan, budget?: BudgetCheck): readonly JobFinding[] {
  const projects = Map.groupBy(jobs, ({ plan }) => plan.draft.project);
  const budgets = [...projects].flatMap(([project, own]) => {
    const cost = highestPlannedCost({ jobs: own });
    return budget?.(project, cost === undefined ? undefined : Math.min(cost, limits.maxCost ?? Infinity)) ?? [];
  });
  const found = [...jobs.flatMap(({ plan }) => plan.findings.filter(({ type }) => type !== 'budget')), ...budgets];
  return [...new Map(found.map((finding) => [`${finding.type} ${finding.summary}`, finding])).values()];
}

/** @throws AppError `bad-input` if two jobs would be the same. */
function checkTwins({ name, jobs }: SweepPlan): void {
  const seen = new Map<string, JobParameters>();
  for (const { parameters, plan } of jobs) {
    const { script, venv, machineClass, project } = plan.draft;
    const key = JSON.stringify([script, venv, machineClass, project]);
    const twin = seen.get(key);
    if (twin !== undefined) {
      const both = `${describeParameters(twin)} and ${describeParameters(parameters)}`;
      throw new AppError('bad-input', `Two jobs of ${name} would be the same: ${both}. Nothing was sent.`);
    }
    seen.set(key, parameters);
  }
}

/**
 * Packs the folder once and stores the sweep, so that its jobs can be sent. Nothing is sent yet.
 *
 * @param options.isTrusted whether the commit may be read from `.git`.
 * @throws AppError `bad-input` if two jobs would be the same; otherwise as `checkCostLimit`, `pack` and `SweepStore.write` do; the signal's reason on abort. Then nothing is left behind.
 */
export async function createSweep(
  { selections, home }: Pick<SubmitDeps, 'selections' | 'home'>,
  planned: SweepPlan,
  { signal, onPhase, rehash, isTrusted }: SubmitOptions & { readonly isTrusted: boolean },
): Promise<Sweep> {
  checkTwins(planned);
  const { name, jobs, limits } = planned;
  const [first] = jobs;
  if (first === undefined) throw new AppError('bad-input', `${name} has no jobs, so nothing was sent.`);
  const { host, selection, maxUploadBytes, accountId, usesContents } = first.plan;
  for (const script of new Set(jobs.map(({ plan }) => plan.draft.script))) {
    await selections.checkScript(selection.id, script);
  }
  onPhase?.({ type: 'select', files: selection.fileCount, bytes: selection.totalBytes });
  const id = randomUUID();
  const archives = new ArchiveStore(home);
  const sweeps = new SweepStore(home);
  try {
    await archives.prepare();
    const packed = await selections.pack(selection.id, archives.partPath(id), {
      manifest: archives.manifestPath(id),
      segments: archives.segmentsPath(id),
      earlier: rehash === true ? undefined : await archives.latestOf(selection.root),
      signal,
      onProgress: (doneBytes, totalBytes) => onPhase?.({ type: 'pack', doneBytes, totalBytes }),
    });
    checkArchiveSize(packed.bytes, maxUploadBytes);
    const git = await readGitState(selection.root, { isTrusted, signal });
    const drafts = jobs.map(({ parameters, plan }, index) => {
      const { estimate, draft } = plan;
      const jobId = randomUUID();
      const resultsFolder = `${draft.resultsFolder ?? name}/${slugOf(index, jobs.length, parameters)}`;
      const terms = { ...draft, resultsFolder, ...recordedPrice(estimate) };
      const request = { ...terms, host, account: accountId, selection, isTrusted };
      const sent = { ...git, archiveBytes: packed.bytes, archive: archives.archivePath(jobId) };
      return {
        ...draftRecord(jobId, request, sent),
        sweep: { id, name, count: jobs.length, index, parameters: { ...parameters } },
      };
    });
    const { concurrency = null, maxCost = null } = limits;
    const createdAt = new Date().toISOString();
    const folder = selection.root;
    const sweep = { id, name, host, folder, createdAt, concurrency, maxCost, usesContents, isCancelled: false, drafts };
    checkCostLimit(sweep);
    await rename(archives.partPath(id), archives.sweepPath(id));
    await sweeps.write(sweep);
    signal?.throwIfAborted();
    return sweep;
  } catch (error) {
    await discardSweep(home, id);
    throw diskError(error, home);
  }
}

/** Removes a sweep none of whose jobs was sent. */
async function discardSweep(home: string, id: string): Promise<void> {
  const archives = new ArchiveStore(home);
  await new SweepStore(home).remove(id);
  await archives.discard(id);
  await archives.discardSweep(id);
}

/** `03-lr=0.1-seed=2`: the folder for the results of a job. */
function slugOf(index: number, count: number, parameters: JobParameters): string {
  const number = String(index + 1).padStart(String(count).length, '0');
  const text = describeParameters(parameters).replaceAll(/[^\w.=+-]+/g, '-');
  return `${number}-${text}`.slice(0, SLUG_LENGTH).replace(/[.\s]+$/, '');
}
