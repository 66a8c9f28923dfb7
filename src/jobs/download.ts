import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, assertNever } from '../core/errors.ts';
import type { SkippedEntry } from '../workspace/extract.ts';
import type { PlannedResult, ResultDecision } from '../workspace/results.ts';
import { httpStatus, type JobService } from './api.ts';
import { ArchiveStore } from './archives.ts';
import type { Archiver } from './archiver.ts';
import type { AsyncLedger } from './asyncLedger.ts';
import { diskError } from './disk.ts';
import { type JobRecord, shortId } from './record.ts';

export interface DownloadDeps {
  readonly service: Pick<JobService, 'downloadArtifacts'>;
  readonly archiver: Pick<Archiver, 'stage' | 'plan' | 'apply' | 'discard'>;
  readonly ledger: AsyncLedger;
  /** FARWHARF_HOME. */
  readonly home: string;
}

export type DownloadPhase =
  | { readonly type: 'download'; readonly doneBytes: number; readonly totalBytes: number | undefined }
  | { readonly type: 'unpack'; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly type: 'decide'; readonly plan: readonly PlannedResult[] }
  | { readonly type: 'write' };

export type Decisions = ReadonlyMap<string, ResultDecision>;

export interface DownloadOptions {
  /** Where the results go; the job's own folder unless given. Made where missing. */
  readonly folder?: string;
  /** Decides file by file; `defaultDecisions` unless given. Undefined means: write nothing. */
  readonly decide?: (plan: readonly PlannedResult[]) => Decisions | undefined | Promise<Decisions | undefined>;
  readonly signal?: AbortSignal;
  readonly onPhase?: (phase: DownloadPhase) => void;
}

export interface DownloadedResults {
  readonly folder: string;
  readonly plan: readonly PlannedResult[];
  /** Relative paths as written. */
  readonly written: readonly string[];
  readonly skipped: readonly string[];
  /** Entries of the archive that are never created: links and special files. */
  readonly refused: readonly SkippedEntry[];
}

// A download this old belongs to a process that is gone.
const ABANDONED_MS = 24 * 3600_000;

/** New files are written, same ones skipped, changed and conflicting ones kept beside the local file, protected names skipped. */
export function defaultDecisions(plan: readonly PlannedResult[]): Decisions {
  return new Map(plan.map(({ path, status }) => [path, defaultDecision(status)]));
}

function defaultDecision(status: PlannedResult['status']): ResultDecision {
  switch (status) {
    case 'new':
      return 'write';
    case 'changed':
    case 'conflict':
      return 'keep-both';
    case 'same':
    case 'protected':
      return 'skip';
    default:
      return assertNever(status);
  }
}

/**
 * Brings a job's results into a folder. On failure, refusal or cancel the folder is as it was and nothing temporary is left.
 *
 * @throws AppError `missing` (no such job, or no results), `no-space`, `refused`, `corrupt`, `limit`; the service's own errors.
 */
export async function downloadResults(
  deps: DownloadDeps,
  id: string,
  options: DownloadOptions = {},
): Promise<DownloadedResults> {
  const record = await deps.ledger.get(id);
  if (record === undefined || record.jobId === null) {
    throw new AppError('missing', 'The service never told the id of this job, so its results cannot be fetched.');
  }
  const downloads = join(deps.home, 'downloads');
  await mkdir(downloads, { recursive: true, mode: 0o700 });
  await removeAbandoned(downloads);
  const archive = join(downloads, `${randomUUID()}.tar.gz`);
  try {
    await fetchArchive(deps.service, record.jobId, archive, options);
    return await unpack(deps, record, archive, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    throw diskError(error);
  } finally {
    await rm(archive, { force: true });
  }
}

async function fetchArchive(
  service: DownloadDeps['service'],
  jobId: string,
  dest: string,
  { signal, onPhase }: DownloadOptions,
): Promise<void> {
  try {
    await service.downloadArtifacts(jobId, dest, {
      ...(signal !== undefined && { signal }),
      onProgress: (doneBytes, totalBytes) => onPhase?.({ type: 'download', doneBytes, totalBytes }),
    });
  } catch (error) {
    if (httpStatus(error) !== 404) throw error;
    throw new AppError(
      'missing',
      'The service has no results for this job. It may still run, or they were deleted there.',
      {
        cause: error,
      },
    );
  }
}

async function unpack(
  { archiver, ledger, home }: DownloadDeps,
  record: JobRecord,
  archive: string,
  { folder = record.folder, decide = defaultDecisions, signal, onPhase }: DownloadOptions,
): Promise<DownloadedResults> {
  const abort = signal === undefined ? {} : { signal };
  await mkdir(folder, { recursive: true });
  const staged = await archiver.stage(archive, folder, {
    ...abort,
    onProgress: (doneBytes, totalBytes) => onPhase?.({ type: 'unpack', doneBytes, totalBytes }),
  });
  try {
    const plan = await archiver.plan(staged, folder, await new ArchiveStore(home).readManifest(record.id));
    onPhase?.({ type: 'decide', plan });
    const decisions = await decide(plan);
    signal?.throwIfAborted();
    const all = plan.map(({ path }) => path);
    if (decisions === undefined) return { folder, plan, written: [], skipped: all, refused: staged.skipped };
    onPhase?.({ type: 'write' });
    const applied = await archiver.apply(staged, folder, decisions, { label: shortId(record), ...abort });
    await ledger.update(record.id, { downloadedAt: new Date().toISOString() });
    return { folder, plan, ...applied, refused: staged.skipped };
  } finally {
    await archiver.discard(staged);
  }
}

async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const time = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - time > ABANDONED_MS) await rm(path, { force: true });
  }
}
