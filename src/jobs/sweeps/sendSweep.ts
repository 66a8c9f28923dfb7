import { AppError, systemCode } from '../../core/errors.ts';
import { classifyFailure, isPassing } from '../../core/network/classifyFailure.ts';
import { type Backoff, backoffMs, delay, Retries } from '../../core/retry.ts';
import { processOwner } from '../../core/processes/processOwner.ts';
import { ArchiveStore } from '../archives/archives.ts';
import { holdLease } from '../ledger/lease.ts';
import { isOver, type JobRecord } from '../ledger/record.ts';
import { type SendDeps, sendArchive, type SubmitPhase } from '../send/send.ts';
import { highestCost, type Sweep } from './sweep.ts';
import { committedCost } from './sweepProgress.ts';
import { SweepStore } from './sweepStore.ts';
import { type SurveyDeps, surveyJobs } from './surveyJobs.ts';

export interface SweepDeps extends Omit<SendDeps, 'service'> {
  readonly service: SendDeps['service'] & SurveyDeps['service'];
}

/** Why no more jobs of a sweep are sent, and the records of those that were. */
export interface SweepEnd {
  readonly type: 'all-sent' | 'cancelled' | 'cost-limit';
  readonly records: readonly JobRecord[];
}

/** `wait`: jobs are running, and one of them must end before the next is sent. `retry`: the service cannot be reached. */
export type SweepPhase =
  | { readonly type: 'upload'; readonly index: number; readonly phase: SubmitPhase }
  | { readonly type: 'wait'; readonly reason: 'concurrency' | 'cost'; readonly records: readonly JobRecord[] }
  | { readonly type: 'retry'; readonly error: unknown };

export interface SweepOptions {
  readonly signal: AbortSignal;
  readonly onPhase?: (phase: SweepPhase) => void;
  /** How long to wait before running jobs are asked about again; more with many of them. */
  readonly pollMs?: number;
  readonly backoff?: Backoff;
}

const LEASE_MS = 30_000;
const POLL_MS = 2_000;
const POLL_PER_JOB_MS = 100;
// Credits. Sums of amounts such as 0.1 are not exact.
const ROUNDING = 1e-9;
// A sweep runs unattended, so it survives what a person would retry: about ten minutes without the service.
const BACKOFF = { firstMs: 1_000, retries: 23 };

/**
 * Sends the jobs of a sweep that do not exist yet, within its limits, and returns when no more are to be sent. Running it again continues
 * a sweep that was interrupted. The key of each job was stored before it was sent, so no job is sent twice.
 *
 * @throws AppError `conflict` while another process sends this sweep, `missing` if its files are gone; the service's error if it refuses
 *   a job or cannot be reached for ten minutes; the signal's reason on abort. Jobs that were sent keep running.
 */
export async function sendSweep(deps: SweepDeps, sweep: Sweep, options: SweepOptions): Promise<SweepEnd> {
  const owner = processOwner();
  if (!(await deps.ledger.claim(sweep.id, owner, LEASE_MS))) {
    throw new AppError(
      'conflict',
      `Sweep ${sweep.name} is already being sent by another Farwharf process. Nothing was sent.`,
    );
  }
  await using lease = holdLease(deps.ledger, sweep.id, { owner, leaseMs: LEASE_MS });
  const signal = AbortSignal.any([options.signal, lease.lost]);
  const { pollMs = POLL_MS, backoff = BACKOFF, onPhase } = options;
  const retries = new Retries({
    delayMs: (failures, error) => (mayBeRetried(error) ? backoffMs(failures, backoff) : undefined),
    onRetry: (_, error) => onPhase?.({ type: 'retry', error }),
    signal,
  });
  // Unknown at the start, and whenever a job may have ended since.
  let records: readonly JobRecord[] | undefined;
  for (;;) {
    try {
      records ??= await surveyJobs(deps, sweep.id, signal);
      const step = nextStep(sweep, records);
      // Another process may have cancelled the sweep.
      const isCancelled = (await new SweepStore(deps.home).read(sweep.id))?.isCancelled !== false;
      if (step.type === 'end' || isCancelled) {
        return await finish(deps, sweep, { type: step.type === 'end' ? step.reason : 'cancelled', records });
      }
      if (step.type === 'send') {
        records = [...records, await sendJob(deps, sweep, step.draft, { signal, onPhase })];
        retries.reset();
        continue;
      }
      retries.reset();
      onPhase?.({ ...step, records });
      await delay(pollMs + records.length * POLL_PER_JOB_MS, signal);
    } catch (error) {
      await retries.wait(error);
    }
    records = undefined;
  }
}

type Step =
  | { readonly type: 'send'; readonly draft: JobRecord }
  | { readonly type: 'end'; readonly reason: SweepEnd['type'] }
  | { readonly type: 'wait'; readonly reason: 'concurrency' | 'cost' };

function nextStep(sweep: Sweep, records: readonly JobRecord[]): Step {
  const recordIds = new Set(records.map(({ id }) => id));
  const draft = sweep.drafts.find(({ id }) => !recordIds.has(id));
  if (draft === undefined) return { type: 'end', reason: 'all-sent' };
  const unfinished = records.filter((record) => !isOver(record)).length;
  if (sweep.concurrency !== null && unfinished >= sweep.concurrency) return { type: 'wait', reason: 'concurrency' };
  const { maxCost } = sweep;
  if (maxCost === null || committedCost(sweep, records) + nextCost(draft, records) <= maxCost + ROUNDING) {
    return { type: 'send', draft };
  }
  // Jobs often cost less than their limit, which leaves more for the others.
  return unfinished === 0 ? { type: 'end', reason: 'cost-limit' } : { type: 'wait', reason: 'cost' };
}

/** The most that the next job can cost. Prices may have risen since the sweep was planned, which shows in what the service holds for others. */
function nextCost(draft: JobRecord, records: readonly JobRecord[]): number {
  const alike = records.filter(
    ({ machineClass, maxRuntime }) => machineClass === draft.machineClass && maxRuntime === draft.maxRuntime,
  );
  return Math.max(highestCost(draft) ?? Infinity, ...alike.map(({ creditHold }) => creditHold ?? 0));
}

async function sendJob(
  deps: SweepDeps,
  { id, drafts, usesContents }: Sweep,
  draft: JobRecord,
  { signal, onPhase }: { readonly signal: AbortSignal; readonly onPhase: SweepOptions['onPhase'] },
): Promise<JobRecord> {
  const store = new ArchiveStore(deps.home);
  const index = drafts.findIndex((each) => each.id === draft.id);
  // An upload that was killed may have left its files.
  await store.discard(draft.id);
  try {
    await store.copyPacked({ ...(await store.packedFiles(id)), archive: store.sweepPath(id) }, draft.id);
    const created = { ...draft, createdAt: new Date().toISOString() };
    return await sendArchive(deps, created, {
      signal,
      usesContents,
      onPhase: (phase) => onPhase?.({ type: 'upload', index, phase }),
    });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') {
      const sentence = 'The packed files of this sweep are gone, so its other jobs cannot be sent. Submit it again.';
      throw new AppError('missing', sentence, { cause: error });
    }
    if (!(error instanceof AppError && error.code === 'outcome-unknown')) await store.discard(draft.id);
    throw error;
  }
}

async function finish({ home }: SweepDeps, { id }: Sweep, end: SweepEnd): Promise<SweepEnd> {
  // A sweep that reached its cost limit can be continued with a higher one.
  if (end.type !== 'cost-limit') await new ArchiveStore(home).discardSweep(id);
  return end;
}

/** Whether the same request may succeed later. An unknown outcome is settled before anything else is sent. */
export function mayBeRetried(error: unknown): boolean {
  return error instanceof AppError ? error.code === 'outcome-unknown' : isPassing(classifyFailure(error));
}
