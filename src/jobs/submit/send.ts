import { rename } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, messageOf } from '../../core/errors.ts';
import { formatBytes, formatDuration } from '../../core/text/format.ts';
import type { JobCreated } from '../../remote/protocol/schemas.ts';
import type { JobService } from '../service/api.ts';
import { ArchiveStore } from '../archives/archives.ts';
import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import { leaseOwner } from '../ledger/leaseOwner.ts';
import type { JobRecord } from '../ledger/record.ts';
import { acceptedPatch } from './settle.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import { EventSpool } from '../log/spool.ts';
import { uploadArchive } from './uploadArchive.ts';

export interface SendDeps {
  readonly service: Pick<JobService, 'submitJob' | 'getSubmission'>;
  readonly ledger: AsyncLedger;
  /** FARWHARF_HOME. */
  readonly home: string;
}

/** Where a submit stands; `pack` and `upload` come many times, `ask` when the answer was lost and the service is asked what it has. */
export type SubmitPhase =
  | { readonly type: 'select'; readonly files: number; readonly bytes: number }
  | { readonly type: 'pack'; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly type: 'upload'; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly type: 'ask' }
  | { readonly type: 'accepted'; readonly record: JobRecord; readonly creditsRemaining: number | null };

export interface SubmitOptions {
  readonly signal?: AbortSignal;
  readonly onPhase?: (phase: SubmitPhase) => void;
  /** All kept archives together; the oldest go first. 2 GB unless given. */
  readonly maxKeptBytes?: number;
}

// Long enough for an event loop that a big upload keeps busy; after it others take the upload for dead.
const LEASE_MS = 30_000;

/**
 * Sends the packed archive of a draft (`<id>.part` in the store) and records what became of it. See `submitWorkspace` for what
 * it throws; the caller discards the archive unless the outcome is unknown.
 */
export async function sendArchive(
  deps: SendDeps,
  draft: JobRecord,
  options: SubmitOptions & { packSeconds?: number },
): Promise<JobRecord> {
  const { ledger } = deps;
  const store = new ArchiveStore(deps.home);
  const archive = store.archivePath(draft.id);
  const owner = leaseOwner();
  const over = new AbortController();
  options.signal?.throwIfAborted();
  await ledger.claim(draft.id, owner, LEASE_MS);
  const lease = keepLease(ledger, draft.id, owner, over.signal);
  try {
    await ledger.insert(draft);
    await rename(store.partPath(draft.id), archive);
    const started = performance.now();
    const created = await upload(deps, draft, archive, options);
    const record = await recordAccepted(deps, draft, created);
    await writePhases(deps.home, record, options.packSeconds, (performance.now() - started) / 1000);
    options.onPhase?.({ type: 'accepted', record, creditsRemaining: created.credits_remaining ?? null });
    const sending = await ledger.list({ state: 'sending', withRemoved: true });
    // The job runs: that old archives could not be removed must not look like a failed submit.
    await store.prune(new Set(sending.map(({ id }) => id)), options.maxKeptBytes).catch(() => {});
    return record;
  } finally {
    over.abort();
    await lease;
    await ledger.release(draft.id, owner);
  }
}

async function upload(
  { service, ledger }: SendDeps,
  draft: JobRecord,
  archive: string,
  { signal, onPhase }: SubmitOptions,
): Promise<JobCreated> {
  const end = await uploadArchive(service, draft, archive, {
    signal,
    onProgress: (doneBytes, totalBytes) => onPhase?.({ type: 'upload', doneBytes, totalBytes }),
    onAsk: () => onPhase?.({ type: 'ask' }),
  });
  if (end.type === 'accepted') return end.created;
  if (end.type === 'not-taken') await ledger.delete(draft.id);
  else await ledger.update(draft.id, { state: 'unknown', reason: messageOf(end.error) });
  throw end.error;
}

async function recordAccepted(
  { ledger, home }: Pick<SendDeps, 'ledger' | 'home'>,
  draft: JobRecord,
  created: JobCreated,
): Promise<JobRecord> {
  try {
    return await ledger.update(draft.id, acceptedPatch(created));
  } catch (error) {
    throw new AppError(
      'outcome-unknown',
      `The service took the job as ${created.job_id}, but that could not be recorded here: ${messageOf(diskError(error, home))}`,
      { cause: error },
    );
  }
}

async function writePhases(
  home: string,
  record: JobRecord,
  packSeconds: number | undefined,
  uploadSeconds: number,
): Promise<void> {
  const size = formatBytes(record.archiveBytes ?? 0);
  const lines = [
    ...(packSeconds === undefined ? [] : [`packed ${size} in ${formatDuration(packSeconds)}`]),
    `uploaded ${size} in ${formatDuration(uploadSeconds)}`,
  ];
  // These lines are a comfort; without them the job is the same.
  await new EventSpool(home, record.id)
    .append(lines.map((text) => ({ event: 'phase', data: { text }, own: true })))
    .catch(() => {});
}

async function keepLease(ledger: AsyncLedger, id: string, owner: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(LEASE_MS / 3, undefined, { signal }).catch(() => {});
    // A renewal that fails is tried again in time; losing the lease costs no more than a row that says unknown for a while.
    if (!signal.aborted) await ledger.renew(id, owner, LEASE_MS).catch(() => false);
  }
}
