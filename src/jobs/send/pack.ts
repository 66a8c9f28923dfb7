import { randomUUID } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import { DamagedArchive } from '../../workspace/archive/inflateSegment.ts';
import { ArchiveStore } from '../archives/archives.ts';
import { readGitState } from '../../workspace/git/gitState.ts';
import { type JobRecord, newRecord } from '../ledger/record.ts';
import { recordedPrice } from '../plan/estimate.ts';
import type { SubmitPlan } from '../plan/plan.ts';
import { checkArchiveSize, refuseErrors } from '../plan/preflight.ts';
import type { Selections } from '../selection/selections.ts';
import { type SendDeps, sendArchive, type SubmitOptions } from './send.ts';

export interface SendPlanDeps extends SendDeps {
  readonly selections: Pick<Selections, 'checkScript' | 'pack'>;
}

export interface PackingOptions extends Pick<SubmitOptions, 'signal' | 'onPhase' | 'rehash'> {
  /** Whether the commit may be read from `.git`. */
  readonly isTrusted: boolean;
  /** Whether files that have not changed may stay in the archives that have them, so that the archive is a folder. */
  readonly mayRefer?: boolean;
}

/** What the records of the jobs that are packed say of it. */
export interface PackedFolder extends Pick<JobRecord, 'gitCommit' | 'gitChanges' | 'archiveBytes'> {
  /** Whether the archive refers to others. */
  readonly isFolder: boolean;
}

/**
 * Packs the folder of jobs once, for all of them, as the unfinished archive `id` of the store.
 *
 * @throws AppError `missing` or `bad-input` if a script is not in the folder or a time limit is not valid; `limit` if the archive is too
 *   large; otherwise as `packSelection`. The caller discards what was written.
 */
export async function packFolder(
  { selections, home }: Pick<SendPlanDeps, 'selections' | 'home'>,
  id: string,
  plans: readonly SubmitPlan[],
  { signal, onPhase, rehash, isTrusted, mayRefer = false }: PackingOptions,
): Promise<PackedFolder> {
  const [first] = plans;
  if (first === undefined) throw new AppError('bad-input', 'There are no jobs, so nothing was sent.');
  const { selection, maxUploadBytes } = first;
  const scripts = plans.map(({ draft, script, commandScript }) =>
    draft.command === undefined ? script : commandScript,
  );
  for (const script of new Set(scripts)) if (script !== undefined) await selections.checkScript(selection.id, script);
  if (!plans.every(({ draft: { maxRuntime } }) => maxRuntime >= 1 && Number.isFinite(maxRuntime))) {
    throw new AppError('bad-input', 'The time limit must be at least 1 second.');
  }
  onPhase?.({ type: 'select', files: selection.fileCount, bytes: selection.totalBytes });
  const store = new ArchiveStore(home);
  await store.prepare();
  const { bytes, isFolder } = await selections.pack(selection.id, store.partPath(id), {
    manifest: store.manifestPath(id),
    segments: store.segmentsPath(id),
    earlier: rehash === true ? undefined : await store.latestOf(selection.root),
    ...(mayRefer && { folder: store.folderPartPath(id) }),
    signal,
    onProgress: (doneBytes, totalBytes) => onPhase?.({ type: 'pack', doneBytes, totalBytes }),
  });
  checkArchiveSize(bytes, maxUploadBytes);
  return { ...(await readGitState(selection.root, { isTrusted, signal })), archiveBytes: bytes, isFolder };
}

/**
 * Packs a folder, sends it once, and records the job. Never retried automatically.
 *
 * @throws AppError `bad-input` or `no-credits` if the plan has errors; as `packFolder`; `outcome-unknown` if the response was lost (the
 *   record then stays, in state `unknown`). The service's own error if it refused and the signal's reason on abort; then nothing is left
 *   behind.
 */
export async function sendPlan(
  deps: SendPlanDeps,
  plan: SubmitPlan,
  options: PackingOptions & Pick<SubmitOptions, 'maxKeptBytes'>,
): Promise<JobRecord> {
  options.signal?.throwIfAborted();
  refuseErrors(plan.findings);
  const id = randomUUID();
  const store = new ArchiveStore(deps.home);
  const { usesContents } = plan;
  try {
    const started = performance.now();
    // A service that takes no contents is sent the whole archive.
    const packed = await packFolder(deps, id, [plan], { ...options, mayRefer: usesContents });
    const packSeconds = (performance.now() - started) / 1000;
    const archive = packed.isFolder ? store.folderPath(id) : store.archivePath(id);
    return await sendArchive(deps, recordOf(id, plan, { ...packed, archive }), {
      ...options,
      usesContents,
      packSeconds,
    });
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'outcome-unknown')) await store.discard(id);
    if (error instanceof DamagedArchive && options.rehash !== true) {
      return sendPlan(deps, plan, { ...options, rehash: true });
    }
    throw diskError(error, deps.home);
  }
}

/** The record of a job that is about to be sent. */
export function recordOf(
  id: string,
  { host, accountId, draft, script, commandScript, selection, estimate }: SubmitPlan,
  packed: PackedFolder & Pick<JobRecord, 'archive'>,
): JobRecord {
  // What is not a field of a record is dropped.
  return newRecord({
    ...draft,
    ...recordedPrice(estimate),
    ...packed,
    id,
    host,
    account: accountId,
    script,
    commandScript,
    state: 'sending',
    maxRuntime: Math.trunc(draft.maxRuntime),
    folder: selection.root,
    createdAt: new Date().toISOString(),
  });
}
