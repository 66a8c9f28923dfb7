import type { Selection } from '../workspace/selection.ts';
import type { JobService } from './api.ts';
import type { Archiver } from './archiver.ts';
import type { AsyncLedger } from './asyncLedger.ts';
import type { JobRecord } from './record.ts';

export interface SubmitDeps {
  readonly service: Pick<JobService, 'submitJob'>;
  readonly archiver: Pick<Archiver, 'pack'>;
  readonly ledger: AsyncLedger;
  /** FARWHARF_HOME. */
  readonly home: string;
}

export interface SubmitRequest {
  readonly host: string;
  readonly account?: string;
  /** What a person has seen and agreed to; `selection.root` is the folder. */
  readonly selection: Selection;
  readonly script: string;
  /** Seconds. */
  readonly maxRuntime: number;
  readonly project?: string;
  readonly venv?: Readonly<Record<string, unknown>>;
  readonly machineClass?: string;
  /** From the rate card, for the cost so far. */
  readonly creditsPerMinute?: number;
  /** Whether git may be asked for the commit. */
  readonly isTrusted: boolean;
}

/** Where a submit stands; `pack` and `upload` come many times. */
export type SubmitPhase =
  | { readonly type: 'select'; readonly files: number; readonly bytes: number }
  | { readonly type: 'pack'; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly type: 'upload'; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly type: 'accepted'; readonly record: JobRecord; readonly creditsRemaining: number | null };

export interface SubmitOptions {
  readonly signal?: AbortSignal;
  onPhase?(phase: SubmitPhase): void;
  /** All kept archives together; the oldest go first. 2 GB unless given. */
  readonly maxKeptBytes?: number;
}

/**
 * Packs a folder, sends it once, and records the job. Never repeats by itself.
 *
 * @throws AppError `missing` when the script is not among the files; `outcome-unknown` when the answer was lost (the record then
 *   stays, in state `unknown`); the service's own error when it refused, and the signal's reason on abort: then nothing is left.
 */
export async function submitWorkspace(
  _deps: SubmitDeps,
  _request: SubmitRequest,
  _options: SubmitOptions = {},
): Promise<JobRecord> {
  throw new Error('not built yet');
}

/**
 * Sends the archive of an earlier job again, as it was.
 *
 * @throws AppError `missing` when there is no such job or its archive is no longer kept; otherwise as `submitWorkspace`.
 */
export async function resubmitJob(
  _deps: Omit<SubmitDeps, 'archiver'>,
  _id: string,
  _options: SubmitOptions = {},
): Promise<JobRecord> {
  throw new Error('not built yet');
}
