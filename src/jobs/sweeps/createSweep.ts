import { randomUUID } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { AppError } from '../../core/errors.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import { ArchiveStore } from '../archives/archives.ts';
import { describeParameters, type JobParameters } from '../ledger/parameters.ts';
import { statedTerms } from '../../remote/protocol/jobTerms.ts';
import type { JobPlans } from '../plan/jobPlans.ts';
import { packFolder, type PackingOptions, recordOf, type SendPlanDeps } from '../send/pack.ts';
import { checkCostLimit, type Sweep } from './sweep.ts';
import { SweepStore } from './sweepStore.ts';

const SLUG_LENGTH = 80;

/** @throws AppError `bad-input` if two jobs would be the same. */
function checkTwins({ name, jobs }: JobPlans): void {
  const seen = new Map<string, JobParameters>();
  for (const { parameters, plan } of jobs) {
    const key = JSON.stringify(statedTerms(plan.draft));
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
 * @throws AppError `bad-input` if two jobs would be the same; otherwise as `checkCostLimit`, `pack` and `SweepStore.write` do; the signal's reason on abort. Then nothing is left behind.
 */
export async function createSweep(
  { selections, home }: Pick<SendPlanDeps, 'selections' | 'home'>,
  planned: JobPlans,
  options: PackingOptions,
): Promise<Sweep> {
  checkTwins(planned);
  const { name, jobs, limits } = planned;
  const [first] = jobs;
  if (first === undefined) throw new AppError('bad-input', `${name} has no jobs, so nothing was sent.`);
  const { host, selection, usesContents } = first.plan;
  const id = randomUUID();
  const archives = new ArchiveStore(home);
  const sweeps = new SweepStore(home);
  try {
    const plans = jobs.map(({ plan }) => plan);
    const packed = await packFolder({ selections, home }, id, plans, options);
    const drafts = jobs.map(({ parameters, plan }, index) => {
      const jobId = randomUUID();
      const resultsFolder = `${plan.draft.resultsFolder ?? name}/${slugOf(index, jobs.length, parameters)}`;
      const place = { id, name, count: jobs.length, index, parameters: { ...parameters } };
      return {
        ...recordOf(jobId, plan, { ...packed, archive: archives.archivePath(jobId) }),
        resultsFolder,
        sweep: place,
      };
    });
    const { concurrency = null, maxCost = null } = limits;
    const createdAt = new Date().toISOString();
    const folder = selection.root;
    const sweep = { id, name, host, folder, createdAt, concurrency, maxCost, usesContents, isCancelled: false, drafts };
    checkCostLimit(sweep);
    await rename(archives.partPath(id), archives.sweepPath(id));
    await sweeps.write(sweep);
    options.signal?.throwIfAborted();
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
