import type { StagedArchive } from './extract.ts';
import type { ManifestEntry } from './pack.ts';

export type ResultStatus =
  | 'new'
  | 'same'
  | 'changed' // the local file is still what was submitted
  | 'conflict' // the local file differs from both
  | 'protected'; // a name that other tools act on: written only when chosen by itself

export interface PlannedResult {
  readonly path: string;
  readonly size: number;
  readonly status: ResultStatus;
}

/** `keep-both` writes `name (job <label>).ext` beside the local file. */
export type ResultDecision = 'write' | 'keep-both' | 'skip';

export interface AppliedResults {
  /** Paths as written, after renaming by `keep-both`. */
  readonly written: readonly string[];
  readonly skipped: readonly string[];
}

/** Compares staged results with the folder and with what was submitted. */
export async function planResults(
  _staged: StagedArchive,
  _folder: string,
  _manifest?: readonly ManifestEntry[],
): Promise<readonly PlannedResult[]> {
  throw new Error('not built yet');
}

/**
 * Moves staged results into the folder. Paths without a decision: new ones are written, all others skipped.
 * The staging folder stays for `discardStaged`.
 */
export async function applyResults(
  _staged: StagedArchive,
  _folder: string,
  _decisions: ReadonlyMap<string, ResultDecision>,
  _options: { label: string; signal?: AbortSignal },
): Promise<AppliedResults> {
  throw new Error('not built yet');
}
