import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { diskError } from '../../core/files/diskSpace.ts';
import { RemoteError } from '../../remote/http/errors.ts';
import { assertGzip } from '../../workspace/archive/gzipReader.ts';
import { MOST_UNPACKED_BYTES } from '../../workspace/extract/extract.ts';
import type { JobRecord } from '../ledger/record.ts';
import { httpStatus, type JobService } from '../service/api.ts';

export interface FetchDeps {
  readonly service: Pick<JobService, 'downloadArtifacts'>;
  /** FARWHARF_HOME, or the folder used in its place for a job that was submitted elsewhere. */
  readonly home: string;
}

export interface FetchOptions {
  readonly signal?: AbortSignal;
  readonly onDownload?: (doneBytes: number, totalBytes: number | undefined) => void;
}

// A larger archive could not be unpacked anyway.
const MOST_ARCHIVE_BYTES = MOST_UNPACKED_BYTES;

// The process of a download of this age has stopped.
const ABANDONED_MS = 24 * 3600_000;

/**
 * Downloads the archive with a job's results, and removes it after `use`.
 *
 * @throws AppError `missing` (no such job, or no results), `no-space`, `corrupt`; the service's own errors, and those of `use`.
 */
export async function withArchive<T>(
  { service, home }: FetchDeps,
  record: JobRecord | undefined,
  options: FetchOptions,
  use: (archive: string, record: JobRecord) => Promise<T>,
): Promise<T> {
  if (record === undefined || record.jobId === null) {
    throw new AppError('missing', 'The service did not return a job ID, so the results cannot be downloaded.');
  }
  const downloads = join(home, 'downloads');
  await mkdir(downloads, { recursive: true, mode: 0o700 });
  await removeAbandoned(downloads);
  const archive = join(downloads, `${randomUUID()}.tar.gz`);
  try {
    await fetchArchive(service, record.jobId, archive, options);
    return await use(archive, record);
  } catch (error) {
    options.signal?.throwIfAborted();
    throw diskError(error, home);
  } finally {
    await rm(archive, { force: true });
  }
}

async function fetchArchive(
  service: FetchDeps['service'],
  jobId: string,
  dest: string,
  { signal, onDownload }: FetchOptions,
): Promise<void> {
  try {
    await service.downloadArtifacts(jobId, dest, {
      ...(signal !== undefined && { signal }),
      maxBytes: MOST_ARCHIVE_BYTES,
      onStart: assertGzip,
      onProgress: (doneBytes, totalBytes) => onDownload?.(doneBytes, totalBytes),
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
