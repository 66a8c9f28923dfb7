import { elapsedSeconds, type JobRecord } from '../ledger/record.ts';

/** Whether the end of a job is worth a notification: the user watched the job, or it ran for at least `notifyAfter` seconds. */
export function isWorthTelling(
  record: JobRecord,
  { isWatched, notifyAfter }: { readonly isWatched: boolean; readonly notifyAfter: number },
): boolean {
  // A job that never ran has no duration, and the user should learn why it did not start.
  return isWatched || (elapsedSeconds(record, Date.now()) ?? Number.POSITIVE_INFINITY) >= notifyAfter;
}
