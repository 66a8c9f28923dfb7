import type { Recording } from './recording.ts';
import type { Checkpoint } from './schemas.ts';
import type { TraceEvent } from './trace.ts';

export interface RunOptions {
  /** Ends the run: it rejects with the signal's reason at once, and no further hook is called. */
  readonly signal?: AbortSignal | undefined;
  /** Receives every trace event as it happens. What it throws ends the run. */
  onEvent?(event: TraceEvent): void;
  /** The most visits of all nodes together, those inside nested flows included. Unlimited when absent. */
  readonly maxVisits?: number | undefined;
  /** Called after each `post` inside a flow; the run goes on when it is done. See `checkpointFile`. */
  onCheckpoint?(checkpoint: Checkpoint): void | Promise<void>;
  /** Goes on after the node where this checkpoint was written. The keys of `shared` are replaced by the checkpoint's. */
  readonly resume?: Checkpoint | undefined;
  /** Keeps what every `exec` gave. */
  readonly record?: Pick<Recording, 'keep'> | undefined;
  /** Answers for every `exec` that it knows with the same code and input; the others run. */
  readonly replay?: Pick<Recording, 'find'> | undefined;
}
