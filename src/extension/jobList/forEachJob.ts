import { AppError, isAbort, messageOf } from '../../core/errors.ts';
import { formatCount } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';

/**
 * Does the same with each job, one after the other, also after one of them failed.
 *
 * @param done what was to be done, as in `cancelled`.
 * @throws the error of a single job; AppError that names the first failure for several; the reason of an abort, at once.
 */
export async function forEachJob(
  records: readonly JobRecord[],
  done: string,
  work: (record: JobRecord) => Promise<unknown>,
): Promise<void> {
  const failures: { readonly record: JobRecord; readonly error: unknown }[] = [];
  for (const record of records) {
    try {
      await work(record);
    } catch (error) {
      if (isAbort(error) || records.length === 1) throw error;
      failures.push({ record, error });
    }
  }
  const [first] = failures;
  if (first === undefined) return;
  const which = `${failures.length} of ${formatCount(records.length, 'job')} could not be ${done}.`;
  throw new AppError(
    'conflict',
    `${which} ${printableLine(shownScript(first.record.script))}: ${messageOf(first.error)}`,
    {
      cause: first.error,
    },
  );
}
