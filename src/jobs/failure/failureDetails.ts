import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import type { JobRecord } from '../ledger/record.ts';
import { SubmittedFiles } from '../archives/submittedFiles.ts';
import { changesSinceSuccess, type FailureChanges } from './failureChanges.ts';
import { type FailureFrame, failureFrames } from './failureFrames.ts';
import { type MissingFile, missingFiles } from './missingFiles.ts';

/** What the submitted files tell about a failure. */
export interface FailureDetails {
  /** Own code that the output names, in the order of the output. */
  readonly frames: readonly FailureFrame[];
  /** Undefined if no earlier success is known. */
  readonly changes: FailureChanges | undefined;
  /** Files that the job did not find, although the folder has them. */
  readonly missing: readonly MissingFile[];
}

/** Reads the details of a job's failure from all of its output that is known. */
export type ReadDetails = (record: JobRecord, output: readonly string[]) => Promise<FailureDetails>;

/**
 * Returns a reader that works in this thread: it reads archives and compares texts, so the extension host leaves that to another one.
 * The reader throws the signal's reason on abort.
 *
 * @param sources `home` is FARWHARF_HOME.
 */
export function detailsReader(
  { ledger, home }: { readonly ledger: Pick<AsyncLedger, 'list'>; readonly home: string },
  signal: AbortSignal,
): ReadDetails {
  const submitted = new SubmittedFiles(home);
  return async (record, output) => {
    // The folder of a job that was sent from elsewhere is unknown.
    if (record.folder === '') return { frames: [], changes: undefined, missing: [] };
    return {
      frames: await failureFrames(output, record, submitted, signal),
      changes: await changesSinceSuccess(record, ledger, submitted, signal),
      missing: await missingFiles(output, record, submitted),
    };
  };
}
