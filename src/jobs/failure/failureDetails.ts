import { createTwoFilesPatch } from 'diff';
import type { AsyncLedger } from '../ledger/asyncLedger.ts';
import { hasSucceeded, type JobRecord } from '../ledger/record.ts';
import { SubmittedFiles } from '../archives/submittedFiles.ts';
import { type FailureFrame, failureFrames } from './failureFrames.ts';
import { type MissingFile, missingFiles } from './missingFiles.ts';
import type { FileChange } from '../archives/fileChanges.ts';

const MAX_JOBS = 500;
const MAX_COMPARED_FILES = 20;
const MAX_FILE_BYTES = 200_000;
const MAX_DIFF_CHARACTERS = 16_000;

// Texts that differ almost everywhere take quadratic time to compare.
const MAX_MS = 500;

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

/** What was submitted differently when the same script last succeeded. */
interface FailureChanges {
  /** The job that succeeded. */
  readonly since: JobRecord;
  readonly files: readonly FileChange[];
  /** A unified diff of the changed texts, from the job that succeeded to the one that failed, cut at 16,000 characters. */
  readonly diff: string;
  readonly isCut: boolean;
}

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

/** Undefined if the script did not succeed before in this folder, or the files of either job are no longer stored. */
export async function changesSinceSuccess(
  record: JobRecord,
  ledger: Pick<AsyncLedger, 'list'>,
  submitted: SubmittedFiles,
  signal: AbortSignal,
): Promise<FailureChanges | undefined> {
  const earlier = await ledger.list({ host: record.host, folder: record.folder, limit: MAX_JOBS });
  const since = earlier.find(
    (each) => each.createdAt < record.createdAt && programOf(each) === programOf(record) && hasSucceeded(each),
  );
  if (since === undefined) return undefined;
  try {
    const files = await submitted.changesBetween(since.id, record.id);
    const paths = files.slice(0, MAX_COMPARED_FILES).map(({ path }) => path);
    const before = await submitted.read(since.id, paths, { signal });
    const after = await submitted.read(record.id, paths, { signal });
    const patches = paths.map((path) => patch(path, textOf(before.get(path)), textOf(after.get(path))));
    const diff = patches.join('');
    const isCut = diff.length > MAX_DIFF_CHARACTERS || files.length > paths.length;
    return { since, files, diff: diff.slice(0, MAX_DIFF_CHARACTERS), isCut };
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** The file that runs, without its arguments. */
function programOf({ script }: JobRecord): string {
  return script.split(' ')[0] ?? '';
}

/** Undefined for a file that is binary or too large. */
function textOf(bytes: Uint8Array = new Uint8Array()): string | undefined {
  return bytes.length > MAX_FILE_BYTES || bytes.includes(0) ? undefined : Buffer.from(bytes).toString('utf8');
}

function patch(path: string, before: string | undefined, after: string | undefined): string {
  const name = JSON.stringify(path).slice(1, -1);
  const unshown = `--- a/${name}\n+++ b/${name}\n(binary, large, or different throughout)\n`;
  if (before === undefined || after === undefined) return unshown;
  const options = { context: 3, timeout: MAX_MS };
  const text: string | undefined = createTwoFilesPatch(
    `a/${name}`,
    `b/${name}`,
    before,
    after,
    undefined,
    undefined,
    options,
  );
  return text?.replace(/^=+\n/, '') ?? unshown;
}
