import { join } from 'node:path';
import { statIfThere } from '../../core/files/ifThere.ts';
import type { JobFiles } from '../jobFiles/jobFiles.ts';
import type { ExpiryCursor, ExpiryTable } from '../store/jobs/expiry.ts';
import type { StoredJob } from '../store/jobs/jobs.ts';

const PAGE = 100;

/** The disk usage of an account's results. */
export interface AccountUsage {
  readonly jobs: number;
  readonly bytes: number;
  /** When the job with the oldest results ended, in milliseconds since 1970. */
  readonly oldestAt: number;
}

/** Yields each job with stored results and their size in bytes, newest first. */
export async function* keptResults(
  expiry: Pick<ExpiryTable, 'newestWithFiles'>,
  files: JobFiles,
): AsyncGenerator<{ readonly job: StoredJob; readonly bytes: number }> {
  let cursor: ExpiryCursor | undefined;
  for (;;) {
    const page = expiry.newestWithFiles(cursor, PAGE);
    if (page.length === 0) return;
    for (const job of page) {
      cursor = { finishedAt: job.finishedAt ?? 0, number: job.number };
      yield { job, bytes: await sizeOf(files.folder(job.id).results) };
    }
  }
}

/** Adds up stored results by account. */
export async function usageByAccount(expiry: ExpiryTable, files: JobFiles): Promise<ReadonlyMap<string, AccountUsage>> {
  const sums = new Map<string, AccountUsage>();
  for await (const { job, bytes } of keptResults(expiry, files)) {
    if (bytes === 0) continue;
    const before = sums.get(job.account) ?? { jobs: 0, bytes: 0 };
    sums.set(job.account, { jobs: before.jobs + 1, bytes: before.bytes + bytes, oldestAt: job.finishedAt ?? 0 });
  }
  return sums;
}

/** Bytes of the store in a data folder, including its write-ahead log. */
export async function storeBytes(data: string): Promise<number> {
  const sizes = await Promise.all(['', '-wal'].map((ending) => sizeOf(join(data, `service.db${ending}`))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function sizeOf(path: string): Promise<number> {
  return (await statIfThere(path))?.size ?? 0;
}
