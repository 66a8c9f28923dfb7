import type { SkippedEntry } from '../workspace/extract.ts';
import type { PlannedResult, ResultDecision } from '../workspace/results.ts';
import type { JobService } from './api.ts';
import type { Archiver } from './archiver.ts';
import type { AsyncLedger } from './asyncLedger.ts';

export interface DownloadDeps {
  readonly service: Pick<JobService, 'downloadArtifacts'>;
  readonly archiver: Pick<Archiver, 'stage' | 'plan' | 'apply' | 'discard'>;
  readonly ledger: AsyncLedger;
  /** FARWHARF_HOME. */
  readonly home: string;
}

export type DownloadPhase =
  | { readonly type: 'download'; readonly doneBytes: number; readonly totalBytes: number | undefined }
  | { readonly type: 'unpack'; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly type: 'decide'; readonly plan: readonly PlannedResult[] }
  | { readonly type: 'write' };

export interface DownloadOptions {
  /** Where the results go; the job's own folder unless given. Made where missing. */
  readonly folder?: string;
  /** Decides file by file; `defaultDecisions` unless given. Undefined means: write nothing. */
  decide?(plan: readonly PlannedResult[]): Decisions | undefined | Promise<Decisions | undefined>;
  readonly signal?: AbortSignal;
  onPhase?(phase: DownloadPhase): void;
}

export type Decisions = ReadonlyMap<string, ResultDecision>;

export interface DownloadedResults {
  readonly folder: string;
  readonly plan: readonly PlannedResult[];
  /** Relative paths as written. */
  readonly written: readonly string[];
  readonly skipped: readonly string[];
  /** Entries of the archive that are never created: links and special files. */
  readonly refused: readonly SkippedEntry[];
}

/** New files are written, same ones skipped, changed and conflicting ones kept beside the local file, protected names skipped. */
export function defaultDecisions(_plan: readonly PlannedResult[]): Decisions {
  throw new Error('not built yet');
}

/**
 * Brings a job's results into a folder. On failure, refusal or cancel the folder is as it was and nothing temporary is left.
 *
 * @throws AppError `missing` (no such job, or no results), `no-space`, `refused`, `corrupt`, `limit`; the service's own errors.
 */
export async function downloadResults(
  _deps: DownloadDeps,
  _id: string,
  _options: DownloadOptions = {},
): Promise<DownloadedResults> {
  throw new Error('not built yet');
}
