import { randomUUID } from 'node:crypto';
import { mkdir, readdir, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, assertNever } from '../../core/errors.ts';
import { RemoteError } from '../../remote/http/errors.ts';
import { MOST_UNPACKED_BYTES, type SkippedEntry, type StagedArchive } from '../../workspace/extract/extract.ts';
import { assertGzip } from '../../workspace/archive/gzipReader.ts';
import type { PlannedResult, ResultDecision, SetAsideResult } from '../../workspace/results/results.ts';
import { httpStatus, type JobService } from '../service/api.ts';
import { ArchiveStore } from '../archives/archives.ts';
import type { Archiver } from '../archives/archiver.ts';
import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import { type JobRecord, shortId } from '../ledger/record.ts';
import type { ResultJournals } from './resultJournals.ts';

export interface DownloadDeps {
  readonly service: Pick<JobService, 'downloadArtifacts'>;
  readonly archiver: Archiver;
  readonly ledger: AsyncLedger;
  /** FARWHARF_HOME, or the folder used in its place for a job that was submitted elsewhere. */
  readonly home: string;
  readonly journals: ResultJournals;
}

export type DownloadPhase =
  | { readonly type: 'download'; readonly doneBytes: number; readonly totalBytes: number | undefined }
  | { readonly type: 'unpack'; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly type: 'decide'; readonly plan: readonly PlannedResult[] }
  | { readonly type: 'write' };

export type Decisions = ReadonlyMap<string, ResultDecision>;

export interface DownloadOptions {
  /** The folder for the results, created if missing; the job's own folder by default. */
  readonly folder?: string;
  /**
   * Decides for each file; `defaultDecisions` by default. Undefined means that nothing is written. `staging` is the folder with the unpacked
   * results, which can be compared with the local files until then.
   */
  readonly decide?: (
    plan: readonly PlannedResult[],
    staging: string,
  ) => Decisions | undefined | Promise<Decisions | undefined>;
  readonly signal?: AbortSignal;
  readonly onPhase?: (phase: DownloadPhase) => void;
}

export interface DownloadedResults {
  readonly folder: string;
  readonly plan: readonly PlannedResult[];
  /** Relative paths as written. */
  readonly written: readonly string[];
  readonly skipped: readonly string[];
  readonly setAside: readonly SetAsideResult[];
  /** Entries of the archive that are never created: links and special files. */
  readonly refused: readonly SkippedEntry[];
}

// Another download or an editor may write into the folder meanwhile, but not without end.
const COMPARISONS = 5;

// A larger archive could not be unpacked anyway.
const MOST_ARCHIVE_BYTES = MOST_UNPACKED_BYTES;

// The process of a download of this age has stopped.
const ABANDONED_MS = 24 * 3600_000;

/**
 * New files are written, identical ones skipped, changed and conflicting ones saved beside the local file. Files that could change how
 * tools behave or what the next submit sends are set aside, and protected names are skipped.
 */
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
    case 'review':
      return 'set-aside';
    case 'same':
    case 'protected':
      return 'skip';
    default:
      return assertNever(status);
  }
}

/**
 * Downloads a job's results into a folder. After a failure, refusal or cancellation the folder is unchanged, without temporary files.
 *
 * If local files change between the comparison and the writing, they are compared again, and `decide` is called again.
 *
 * @throws AppError `missing` (no such job, or no results), `no-space`, `refused`, `corrupt`, `limit`, `conflict` if local files keep
 * changing; the service's own errors.
 */
export async function downloadResults(
  deps: DownloadDeps,
  id: string,
  options: DownloadOptions = {},
): Promise<DownloadedResults> {
  const record = await deps.ledger.get(id);
  if (record === undefined || record.jobId === null) {
    throw new AppError('missing', 'The service did not return a job ID, so the results cannot be downloaded.');
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
    throw diskError(error, deps.home);
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
      maxBytes: MOST_ARCHIVE_BYTES,
      onStart: assertGzip,
      onProgress: (doneBytes, totalBytes) => onPhase?.({ type: 'download', doneBytes, totalBytes }),
    });
  } catch (error) {
    if (httpStatus(error) !== 404) throw error;
    const why =
      error instanceof RemoteError && error.detail !== undefined
        ? `It says: ${error.detail}`
        : 'The job may still be running, or they were deleted there.';
    throw new AppError('missing', `The service has no results for this job. ${why}`, { cause: error });
  }
}

async function unpack(
  { archiver, journals, ledger, home }: DownloadDeps,
  record: JobRecord,
  archive: string,
  { folder = record.folder, decide = defaultDecisions, signal, onPhase }: DownloadOptions,
): Promise<DownloadedResults> {
  const abort = signal === undefined ? {} : { signal };
  await mkdir(folder, { recursive: true });
  const journal = journals.begin(await realpath(folder), record.script);
  let staged: StagedArchive | undefined;
  try {
    staged = await archiver.stage(archive, folder, {
      ...abort,
      name: journal.stagingName,
      onProgress: (doneBytes, totalBytes) => onPhase?.({ type: 'unpack', doneBytes, totalBytes }),
    });
    const manifest = await new ArchiveStore(home).readManifest(record.id);
    for (let attempt = 1; ; attempt += 1) {
      const plan = await archiver.plan(staged, folder, manifest);
      onPhase?.({ type: 'decide', plan });
      const decisions = await decide(plan, staged.staging);
      signal?.throwIfAborted();
      const all = plan.map(({ path }) => path);
      if (decisions === undefined) {
        return { folder, plan, written: [], skipped: all, setAside: [], refused: staged.skipped };
      }
      onPhase?.({ type: 'write' });
      try {
        const options = { label: shortId(record), journal: journal.steps, ...abort };
        const applied = await archiver.apply(staged, folder, decisions, options);
        // The results are written even if there is no space to record it.
        await ledger.update(record.id, { downloadedAt: new Date().toISOString() }).catch(() => {});
        return { folder, plan, ...applied, refused: staged.skipped };
      } catch (error) {
        // A local file changed since the comparison and nothing was written, so the loop compares and decides again.
        if (!(error instanceof AppError && error.code === 'conflict') || attempt === COMPARISONS) throw error;
      }
    }
  } finally {
    // Otherwise the staging folder contains originals that could not be restored.
    if (staged !== undefined && !journal.isOpen()) await archiver.discard(staged);
    journal.end();
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
