import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import { RemoteError } from '../../remote/http/remoteErrors.ts';
import type { AssembledTar } from '../../workspace/archive/assembledTar.ts';
import { assertGzip } from '../../workspace/archive/gzipReader.ts';
import { type ArchiveLimits, MOST_UNPACKED_BYTES } from '../../workspace/extract/extract.ts';
import type { JobRecord } from '../ledger/record.ts';
import { classifyFailure } from '../../core/network/classifyFailure.ts';
import type { JobService } from '../service/api.ts';
import { fetchPieces, fetchRecords, putPieces, type ResultContentService } from '../contents/fetchContents.ts';
import { wholeDownloadReason } from '../contents/wholeReason.ts';
import { ArchiveStore } from '../archives/archives.ts';
import { readSegments } from '../archives/archiveSegments.ts';
import { contentsOf } from '../contents/archiveContents.ts';
import { TarAssembly } from '../contents/tarAssembly.ts';
import { PlacedResults } from './placedResults.ts';

// Below this, the archive is fetched whole, which is compressed better and needs one request.
const LEAST_LOCAL_BYTES = 256 * 1024;

export interface FetchDeps {
  readonly service: Pick<JobService, 'downloadArtifacts'> & Partial<ResultContentService>;
  /** FARWHARF_HOME, or the folder used in its place for a job that was submitted elsewhere. */
  readonly home: string;
  /** For results of any job; those of archives by default. */
  readonly limits?: ArchiveLimits | undefined;
}

export type FetchPhase =
  | { readonly type: 'download'; readonly doneBytes: number; readonly totalBytes: number | undefined }
  /** All results are downloaded, although the service offers to send only what this machine lacks. */
  | { readonly type: 'whole'; readonly reason: string };

export interface FetchOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onPhase?: ((phase: FetchPhase) => void) | undefined;
}

// The process of a download of this age has stopped.
const ABANDONED_MS = 24 * 3600_000;

/** The results of a job on this machine. */
export interface FetchedArchive {
  readonly archive: string | AssembledTar;
  /** Of the pieces of the tar stream; undefined if the service does not offer them. */
  readonly records: Buffer | undefined;
}

interface AssembleOptions {
  /** The path of the new tar file. */
  readonly dest: string;
  /** Of the pieces, as the service sent them. */
  readonly records: Buffer;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (doneBytes: number, totalBytes: number) => void;
}

/**
 * Downloads the archive with a job's results, or what this machine lacks of it, and removes it after `use`.
 *
 * @throws AppError `missing` (no such job, or no results), `no-space`, `corrupt`; the service's own errors, and those of `use`.
 */
export async function withArchive<T>(
  { service, home, limits }: FetchDeps,
  record: JobRecord | undefined,
  options: FetchOptions,
  use: (archive: FetchedArchive, record: JobRecord) => Promise<T>,
): Promise<T> {
  const jobId = record?.jobId ?? null;
  // A larger archive could not be unpacked anyway.
  const maxBytes = limits?.totalBytes ?? MOST_UNPACKED_BYTES;
  if (record === undefined || jobId === null) {
    throw new AppError('missing', 'The service did not return a job ID, so the results cannot be downloaded.');
  }
  const downloads = join(home, 'downloads');
  const name = join(downloads, randomUUID());
  const [archive, tar] = [`${name}.tar.gz`, `${name}.tar`];
  try {
    await mkdir(downloads, { recursive: true, mode: 0o700 });
    await removeAbandoned(downloads);
    const { signal, onPhase } = options;
    const onProgress = (doneBytes: number, totalBytes: number): void =>
      onPhase?.({ type: 'download', doneBytes, totalBytes });
    const onRefused = (error: unknown): void => onPhase?.({ type: 'whole', reason: wholeDownloadReason(error) });
    let records: Buffer | undefined;
    if (offersContents(service)) {
      records = await fetchRecords(service, jobId, { signal, onRefused });
      if (records !== undefined) {
        const assembling = { dest: tar, records, maxBytes, signal, onProgress };
        const assembled = await assembleResults({ service, home }, { ...record, jobId }, assembling);
        if (assembled !== undefined) return await use({ archive: assembled, records }, record);
      }
    }
    await fetchArchive(service, jobId, archive, { ...options, maxBytes });
    return await use({ archive, records }, record);
  } catch (error) {
    options.signal?.throwIfAborted();
    throw diskError(error, home);
  } finally {
    await rm(archive, { force: true });
    await rm(tar, { force: true });
  }
}

function offersContents(service: FetchDeps['service']): service is FetchDeps['service'] & ResultContentService {
  return service.me !== undefined && service.streamResultContents !== undefined;
}

async function fetchArchive(
  service: FetchDeps['service'],
  jobId: string,
  dest: string,
  { signal, onPhase, maxBytes }: FetchOptions & { readonly maxBytes: number },
): Promise<void> {
  try {
    await service.downloadArtifacts(jobId, dest, {
      ...(signal !== undefined && { signal }),
      maxBytes,
      onStart: assertGzip,
      onProgress: (doneBytes, totalBytes) => onPhase?.({ type: 'download', doneBytes, totalBytes }),
    });
  } catch (error) {
    if (classifyFailure(error) !== 'missing') throw error;
    const why =
      error instanceof RemoteError && error.detail !== undefined
        ? `It says: ${error.detail}`
        : 'The job may still be running, or they were deleted there.';
    throw new AppError('missing', `The service has no results for this job. ${why}`, { cause: error });
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

/**
 * Assembles the results of a job from the last results of its folder, what was sent with the job, and pieces that only the service has.
 *
 * @returns undefined if little of them is on this machine, so that the archive should be fetched instead. There may be a file nevertheless.
 * @throws AppError `corrupt` for records that are not valid, and as `fetchPieces`.
 */
export async function assembleResults(
  { service, home }: { readonly service: ResultContentService; readonly home: string },
  record: JobRecord & { readonly jobId: string },
  { dest, records, maxBytes, signal, onProgress }: AssembleOptions,
): Promise<AssembledTar | undefined> {
  const assembly = await TarAssembly.create(records, dest, maxBytes);
  if (assembly === undefined) {
    const message = 'The list of the contents of the results is not valid, so nothing was saved. Download them again.';
    throw new AppError('corrupt', message);
  }
  try {
    await putPieces(assembly, new PlacedResults(home).read(record, assembly.lackingNames()));
    await putSubmitted(assembly, record, home, signal);
    if (assembly.doneBytes < LEAST_LOCAL_BYTES) return undefined;
    onProgress(assembly.doneBytes, assembly.totalBytes);
    await fetchPieces(service, record.jobId, assembly, { signal, onProgress });
    return { path: dest, sources: assembly.sources() };
  } finally {
    await assembly[Symbol.asyncDispose]();
  }
}

/** Puts what was sent with the job into the assembly. */
async function putSubmitted(
  assembly: TarAssembly,
  { id }: JobRecord,
  home: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const store = new ArchiveStore(home);
  const segments = await readSegments(store.segmentsPath(id));
  if (segments === undefined || assembly.isComplete) return;
  try {
    const { archive } = await store.packedFiles(id);
    await putPieces(assembly, contentsOf(archive, segments).read(assembly.lackingNames(), signal));
  } catch {
    signal?.throwIfAborted();
    // The archive was removed or damaged, so the service sends its pieces.
  }
}
