import { isOver, type JobRecord } from '../ledger/record.ts';

/** The jobs of a sweep that have ended and whose results were not downloaded, in the order of the matrix. Those with no results are left out once that is known. */
export function awaitedResults(records: readonly JobRecord[]): readonly JobRecord[] {
  const isAwaited = (record: JobRecord): boolean =>
    record.jobId !== null && isOver(record) && record.downloadedAt === null && record.results?.files !== 0;
  return records.filter(isAwaited).toSorted((a, b) => (a.sweep?.index ?? 0) - (b.sweep?.index ?? 0));
}
