import { randomUUID } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import { readGitCommit } from '../../workspace/git/gitCommit.ts';
import { ArchiveStore } from '../archives/archives.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import { checkArchiveSize } from './preflight.ts';
import { type JobRecord, newRecord } from '../ledger/record.ts';
import type { SelectedFolder } from '../selection/selectedFolder.ts';
import type { Selections } from '../selection/selections.ts';
import { type SendDeps, sendArchive, type SubmitOptions } from './send.ts';

export type { SubmitOptions, SubmitPhase } from './send.ts';

export interface SubmitDeps extends SendDeps {
  readonly selections: Pick<Selections, 'checkScript' | 'pack'>;
}

export interface SubmitRequest {
  readonly host: string;
  readonly account?: string;
  /** What a person has seen and agreed to; `selection.root` is the folder. */
  readonly selection: SelectedFolder;
  readonly script: string;
  /** Seconds. */
  readonly maxRuntime: number;
  readonly project?: string;
  readonly venv?: Readonly<Record<string, unknown>>;
  readonly machineClass?: string;
  /** From the rate card, for the cost so far. */
  readonly creditsPerMinute?: number;
  /** The largest archive that the service accepts, where it states that. */
  readonly maxUploadBytes?: number;
  /** Whether the commit may be read from `.git`. */
  readonly isTrusted: boolean;
}

/**
 * Packs a folder, sends it once, and records the job. Never repeats by itself.
 *
 * @throws AppError `missing` or `bad-input` when the request makes no sense; `limit` when the archive is too large; `outcome-unknown` when the answer was lost (the record
 *   then stays, in state `unknown`); the service's own error when it refused, and the signal's reason on abort: then nothing is left.
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
      ...(signal !== undefined && { signal }),
      onProgress: (doneBytes, totalBytes) => onPhase?.({ type: 'pack', doneBytes, totalBytes }),
    });
    checkArchiveSize(packed.bytes, request.maxUploadBytes);
    const gitCommit = request.isTrusted ? await readGitCommit(selection.root) : null;
    const packSeconds = (performance.now() - started) / 1000;
    const record = draftRecord(id, request, { gitCommit, archiveBytes: packed.bytes, archive: store.archivePath(id) });
    return await sendArchive(deps, record, { ...options, packSeconds });
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'outcome-unknown')) await store.discard(id);
    throw diskError(error, deps.home);
  }
}

function draftRecord(
  id: string,
  request: SubmitRequest,
  sent: Pick<JobRecord, 'gitCommit' | 'archive' | 'archiveBytes'>,
): JobRecord {
  const { host, account, script, project, machineClass, creditsPerMinute, maxRuntime, venv, selection } = request;
  return newRecord({
    ...sent,
    id,
    host,
    account,
    script,
    project,
    machineClass,
    creditsPerMinute,
    venv,
    state: 'sending',
    maxRuntime: Math.trunc(maxRuntime),
    folder: selection.root,
    createdAt: new Date().toISOString(),
  });
}
