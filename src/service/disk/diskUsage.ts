import { join } from 'node:path';
import { statIfThere } from '../../core/files/ifThere.ts';
import { folderBytes } from './folderBytes.ts';
import type { JobFiles } from '../jobFiles/jobFiles.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import type { ExpiryCursor, ExpiryTable } from '../store/jobs/expiry.ts';
import type { StoredJob } from '../store/jobs/jobTable.ts';
import type { Store } from '../store/store.ts';

const PAGE = 100;
const LARGEST = 10;

/** What the files of an account's jobs occupy. */
export interface AccountDiskUsage {
  /** Jobs with files. */
  readonly jobs: number;
  /** Of packed results. */
  readonly resultsBytes: number;
  /** Of jobs that have not ended, or whose results could not be packed. */
  readonly workspaceBytes: number;
  /** When the job with the oldest files ended, in milliseconds since 1970; undefined if none has ended. */
  readonly oldestAt: number | undefined;
}

/** The files of an ended job. */
export interface KeptFiles {
  readonly job: StoredJob;
  readonly bytes: number;
  /** False if its results, or some of them, could not be packed, so that all of its files are still there. */
  readonly isPacked: boolean;
}

/** Yields each ended job whose files were not removed, and their size, newest first. */
export async function* keptResults(
  expiry: Pick<ExpiryTable, 'newestWithFiles'>,
  files: JobFiles,
): AsyncGenerator<KeptFiles> {
  let cursor: ExpiryCursor | undefined;
  for (;;) {
    const page = expiry.newestWithFiles(cursor, PAGE);
    if (page.length === 0) return;
    for (const job of page) {
      cursor = { finishedAt: job.finishedAt ?? 0, number: job.number };
      yield { job, ...(await keptFiles(files.folder(job.id))) };
    }
  }
}

/** A job with the bytes that its files occupy. */
export interface JobDiskUsage {
  readonly job: StoredJob;
  readonly bytes: number;
}

/** Adds up the files of all jobs by account, and lists the jobs with the most. */
export async function usageByAccount(
  { expiry, jobs }: Pick<Store, 'expiry' | 'jobs'>,
  files: JobFiles,
): Promise<{ readonly accounts: ReadonlyMap<string, AccountDiskUsage>; readonly largest: readonly JobDiskUsage[] }> {
  const accounts = new Map<string, AccountDiskUsage>();
  let largest: readonly JobDiskUsage[] = [];
  const add = ({ job, bytes, isPacked }: KeptFiles): void => {
    if (bytes === 0) return;
    const sum = accounts.get(job.account) ?? { jobs: 0, resultsBytes: 0, workspaceBytes: 0, oldestAt: undefined };
    accounts.set(job.account, {
      jobs: sum.jobs + 1,
      resultsBytes: sum.resultsBytes + (isPacked ? bytes : 0),
      workspaceBytes: sum.workspaceBytes + (isPacked ? 0 : bytes),
      oldestAt: job.finishedAt ?? sum.oldestAt,
    });
    largest = [...largest, { job, bytes }].toSorted((a, b) => b.bytes - a.bytes).slice(0, LARGEST);
  };
  for await (const kept of keptResults(expiry, files)) add(kept);
  const unfinished = jobs.unfinished();
  for (let start = 0; start < unfinished.length; start += PAGE) {
    const page = unfinished.slice(start, start + PAGE);
    const sizes = await folderBytes(page.map(({ id }) => files.folder(id).path));
    for (const job of page) add({ job, bytes: sizes.get(files.folder(job.id).path) ?? 0, isPacked: false });
  }
  return { accounts, largest };
}

/** Bytes of the store in a data folder, including its write-ahead log. */
export async function storeBytes(data: string): Promise<number> {
  const sizes = await Promise.all(['', '-wal'].map((ending) => sizeOf(join(data, `service.db${ending}`))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function keptFiles({ path, results, incomplete }: JobFolder): Promise<Pick<KeptFiles, 'bytes' | 'isPacked'>> {
  const archiveStats = await statIfThere(results);
  if (archiveStats !== undefined && (await statIfThere(incomplete)) === undefined)
    return { bytes: archiveStats.size, isPacked: true };
  if ((await statIfThere(path)) === undefined) return { bytes: 0, isPacked: true };
  return { bytes: (await folderBytes([path])).get(path) ?? 0, isPacked: false };
}

async function sizeOf(path: string): Promise<number> {
  return (await statIfThere(path))?.size ?? 0;
}
