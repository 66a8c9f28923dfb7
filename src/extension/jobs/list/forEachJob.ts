import { AppError, isAbort, messageOf } from '../../../core/errors.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { shownScript } from '../../../jobs/selection/script.ts';
import type { JobRecord } from '../../../jobs/ledger/record.ts';

/**
 * Calls `work` for each job, one after the other, even after one of them has failed.
 *
 * @param failures says how many of several jobs failed.
 * @throws the error of a single job; AppError that names the first failure for several; the reason of an abort, at once.
 */
export async function forEachJob(
  records: readonly JobRecord[],
  failures: (failed: number, all: number) => string,
  work: (record: JobRecord) => Promise<unknown>,
): Promise<void> {
  const failed: { readonly record: JobRecord; readonly error: unknown }[] = [];
  for (const record of records) {
    try {
      await work(record);
    } catch (error) {
      if (isAbort(error) || records.length === 1) throw error;
      failed.push({ record, error });
    }
  }
  const [first] = failed;
  if (first === undefined) return;
  throw new AppError(
    'conflict',
    `${failures(failed.length, records.length)} ${printableLine(shownScript(first.record.script))}: ${messageOf(first.error)}`,
    {
      cause: first.error,
    },
  );
}
