import * as l10n from '@vscode/l10n';
import { AppError, messageOf } from '../../core/errors.ts';
import { formatBytes, formatDuration } from '../../core/text/format.ts';
import type { JobCreated } from '../../remote/protocol/schemas.ts';
import { ArchiveStore } from '../archives/archives.ts';
import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import { processOwner } from '../../core/processes/processOwner.ts';
import { holdLease } from '../ledger/lease.ts';
import type { JobRecord } from '../ledger/record.ts';
import { acceptedPatch } from './settle.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import { EventSpool } from '../log/spool.ts';
import { type UploadPhase, uploadPacked, type UploadService } from './upload.ts';

export interface SendDeps {
  readonly service: UploadService;
  readonly ledger: AsyncLedger;
  /** FARWHARF_HOME. */
  readonly home: string;
}

/** The phase of a submit. `pack` and `upload` are repeated; `recorded` means that the ledger has the job. */
export type SubmitPhase =
  | { readonly type: 'select'; readonly files: number; readonly bytes: number }
  | { readonly type: 'pack'; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly type: 'recorded' }
  | UploadPhase
  | { readonly type: 'accepted'; readonly record: JobRecord; readonly creditsRemaining: number | null };

export interface SubmitOptions {
  readonly signal?: AbortSignal;
  readonly onPhase?: (phase: SubmitPhase) => void;
  /** Limit for all stored archives together, 2 GB by default. The oldest are removed first. */
  readonly maxKeptBytes?: number;
  /** Whether the service takes submissions by content. */
  readonly usesContents?: boolean | undefined;
  /** Whether all files are read again, not only those whose size or times have changed since the last submit of the folder. */
  readonly rehash?: boolean | undefined;
}

// Long enough for an event loop that is busy with a large upload. After this time, other processes consider the upload dead.
const LEASE_MS = 30_000;

/**
 * Sends what was packed for a draft (`partPath` of the store) and records the outcome. Throws like `sendPlan`; the caller
 * discards the archive unless the outcome is unknown.
 */
export async function sendArchive(
  deps: SendDeps,
  draft: JobRecord,
  options: SubmitOptions & { readonly packSeconds?: number },
): Promise<JobRecord> {
  const { ledger } = deps;
  const store = new ArchiveStore(deps.home);
  const owner = processOwner();
  options.signal?.throwIfAborted();
  await ledger.claim(draft.id, owner, LEASE_MS);
  // Losing the lease only means that the job's row says `unknown` for a while.
  await using _lease = holdLease(ledger, draft.id, { owner, leaseMs: LEASE_MS });
  await ledger.insert(draft);
  await store.place(draft.id);
  options.onPhase?.({ type: 'recorded' });
  const started = performance.now();
  let sentBytes = draft.archiveBytes ?? 0;
  let reason: string | undefined;
  const onPhase = (phase: SubmitPhase): void => {
    if (phase.type === 'upload') ({ sentBytes } = phase);
    if (phase.type === 'whole') ({ reason } = phase);
    options.onPhase?.(phase);
  };
  const { signal, usesContents = false } = options;
  const end = await uploadPacked(deps.service, draft, deps.home, { usesContents, signal, onPhase });
  if (end.type !== 'accepted') {
    if (end.type === 'not-taken') await ledger.delete(draft.id);
    else await ledger.update(draft.id, { state: 'unknown', reason: messageOf(end.error) });
    throw end.error;
  }
  const { created } = end;
  const record = await recordAccepted(deps, draft, created);
  // The job is running, and without this the next submit only takes longer.
  await store.setLatest(draft.folder, draft.id).catch(() => {});
  await writePhases(deps.home, record, options.packSeconds, {
    sentBytes,
    reason,
    seconds: (performance.now() - started) / 1000,
  });
  options.onPhase?.({ type: 'accepted', record, creditsRemaining: created.credits_remaining ?? null });
  const sending = await ledger.list({ state: 'sending', withRemoved: true });
  // The job is running, so a failure to remove old archives must not look like a failed submit.
  await store.prune(new Set(sending.map(({ id }) => id)), options.maxKeptBytes).catch(() => {});
  return record;
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
      `The service accepted job ${created.job_id}, but it could not be recorded here: ${messageOf(diskError(error, home))}`,
      { cause: error },
    );
  }
}

async function writePhases(
  home: string,
  record: JobRecord,
  packSeconds: number | undefined,
  sent: { readonly sentBytes: number; readonly reason: string | undefined; readonly seconds: number },
): Promise<void> {
  const size = formatBytes(record.archiveBytes ?? 0);
  const lines = [
    ...(packSeconds === undefined ? [] : [l10n.t('packed {0} in {1}', size, formatDuration(packSeconds))]),
    ...(sent.reason === undefined ? [] : [sent.reason]),
    l10n.t('uploaded {0} in {1}', formatBytes(sent.sentBytes), formatDuration(sent.seconds)),
  ];
  // These lines are only for information, so a failure to write them is ignored.
  await new EventSpool(home, record.id)
    .append(lines.map((text) => ({ event: 'phase', data: { text }, own: true })))
    .catch(() => {});
}
