import { randomUUID } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import type { JobSubmission } from '../../remote/transfers/submission.ts';
import { ArchiveStore } from '../archives/archives.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import { readGitState } from '../../workspace/git/gitState.ts';
import type { SubmitDraft } from '../plan/draft.ts';
import { recordedPrice } from '../plan/estimate.ts';
import type { SubmitPlan } from '../plan/plan.ts';
import { checkArchiveSize, refuseErrors } from '../plan/preflight.ts';
import { DamagedArchive } from '../../workspace/archive/inflateSegment.ts';
import { type JobRecord, newRecord } from '../ledger/record.ts';
import type { SelectedFolder } from '../selection/selectedFolder.ts';
import type { Selections } from '../selection/selections.ts';
import { type SendDeps, sendArchive, type SubmitOptions } from './send.ts';

export type { SubmitOptions, SubmitPhase } from './send.ts';

export interface SubmitDeps extends SendDeps {
  readonly selections: Pick<Selections, 'checkScript' | 'pack'>;
}

export interface SubmitRequest extends JobSubmission, Pick<SubmitDraft, 'resultsFolder'> {
  readonly host: string;
  readonly account?: string | undefined;
  /** What the user has seen and agreed to; `selection.root` is the folder. */
  readonly selection: SelectedFolder;
  /** From the rate card, for the cost so far. */
  readonly creditsPerMinute?: number | null | undefined;
  /** From the rate card, if the machine class has no price. */
  readonly unpricedCpus?: number | null | undefined;
  readonly unpricedGpus?: number | null | undefined;
  /** The largest archive that the service accepts, if it states a limit. */
  readonly maxUploadBytes?: number | undefined;
  /** Whether the commit may be read from `.git`. */
  readonly isTrusted: boolean;
}

/**
 * Packs a folder, sends it once, and records the job. Never retried automatically.
 *
 * @throws AppError `missing` or `bad-input` for an invalid request; `limit` if the archive is too large; `outcome-unknown` if the
 *   response was lost (the record then stays, in state `unknown`). The service's own error if it refused and the signal's reason on
 *   abort; then nothing is left behind.
 */
export async function submitWorkspace(
  deps: SubmitDeps,
  request: SubmitRequest,
  options: SubmitOptions = {},
): Promise<JobRecord> {
  const { selection } = request;
  const { signal, onPhase } = options;
  signal?.throwIfAborted();
  await deps.selections.checkScript(selection.id, request.script);
  if (!(request.maxRuntime >= 1 && Number.isFinite(request.maxRuntime))) {
    throw new AppError('bad-input', 'The time limit must be at least 1 second.');
  }
  onPhase?.({ type: 'select', files: selection.fileCount, bytes: selection.totalBytes });
  const id = randomUUID();
  const store = new ArchiveStore(deps.home);
  try {
    await store.prepare();
    const started = performance.now();
    const packed = await deps.selections.pack(selection.id, store.partPath(id), {
      manifest: store.manifestPath(id),
      segments: store.segmentsPath(id),
      earlier: options.rehash === true ? undefined : await store.latestOf(selection.root),
      // A service that takes no contents is sent the whole archive.
      ...(options.usesContents === true && { folder: store.folderPartPath(id) }),
      signal,
      onProgress: (doneBytes, totalBytes) => onPhase?.({ type: 'pack', doneBytes, totalBytes }),
    });
    checkArchiveSize(packed.bytes, request.maxUploadBytes);
    const git = await readGitState(selection.root, { isTrusted: request.isTrusted, signal });
    const packSeconds = (performance.now() - started) / 1000;
    const archive = packed.isFolder ? store.folderPath(id) : store.archivePath(id);
    const record = draftRecord(id, request, { ...git, archiveBytes: packed.bytes, archive });
    return await sendArchive(deps, record, { ...options, packSeconds });
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'outcome-unknown')) await store.discard(id);
    if (error instanceof DamagedArchive && options.rehash !== true) {
      return submitWorkspace(deps, request, { ...options, rehash: true });
    }
    throw diskError(error, deps.home);
  }
}

/**
 * Packs and sends a plan, once.
 *
 * @param options.isTrusted whether the commit may be read from `.git`.
 * @throws AppError `bad-input` or `no-credits` if the plan has errors; otherwise as `submitWorkspace`.
 */
export async function sendPlan(
  deps: SubmitDeps,
  plan: SubmitPlan,
  { isTrusted, ...options }: SubmitOptions & { readonly isTrusted: boolean },
): Promise<JobRecord> {
  refuseErrors(plan.findings);
  const { host, selection, estimate, maxUploadBytes, accountId, usesContents } = plan;
  const { script, maxRuntime, machineClass, project, venv, secrets, volumes, cluster, resultsFolder } = plan.draft;
  const terms = { script, maxRuntime, machineClass, project, venv, secrets, volumes, cluster, resultsFolder };
  const sent = { ...recordedPrice(estimate), selection, maxUploadBytes, isTrusted };
  return submitWorkspace(deps, { ...terms, ...sent, host, account: accountId }, { ...options, usesContents });
}

/** The record of a job that is about to be sent. */
export function draftRecord(
  id: string,
  request: SubmitRequest,
  sent: Pick<JobRecord, 'gitCommit' | 'gitChanges' | 'archive' | 'archiveBytes'>,
): JobRecord {
  const { selection, secrets = [], volumes = [], ...terms } = request;
  const maxRuntime = Math.trunc(terms.maxRuntime);
  const createdAt = new Date().toISOString();
  // Terms that are not fields of a record are dropped.
  return newRecord({
    ...terms,
    ...sent,
    secrets: [...secrets],
    volumes: [...volumes],
    id,
    state: 'sending',
    maxRuntime,
    folder: selection.root,
    createdAt,
  });
}
