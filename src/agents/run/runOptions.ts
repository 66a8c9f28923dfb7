import type { BudgetLimits } from './budget.ts';
import type { OptionShape } from '../schema/optionShape.ts';
import type { Recording } from '../records/recording.ts';
import type { Checkpoint } from '../records/recordSchemas.ts';
import type { TraceEvent } from '../records/trace.ts';

export interface RunOptions extends BudgetLimits {
  /** Ends the run: it rejects immediately with the signal's reason, and no further hook is called. */
  readonly signal?: AbortSignal | undefined;
  /** Receives every trace event as it happens. An error thrown here ends the run. */
  onEvent?(event: TraceEvent): void;
  /** The most visits of all nodes together, including those in nested flows. Unlimited if absent. */
  readonly maxVisits?: number | undefined;
  /** Called after each `post` inside a flow; the run waits for it. See `checkpointFile`. */
  onCheckpoint?(checkpoint: Checkpoint): void | Promise<void>;
  /** Continues after the node of this checkpoint. The keys of `shared` are replaced by the checkpoint's. */
  readonly resume?: Checkpoint | undefined;
  /** The answer to the question of a `resume` that waits for one. */
  readonly input?: unknown;
  /** Records the result of every `exec`, and every call of a tool. */
  readonly record?: (Pick<Recording, 'keep'> & Partial<Pick<Recording, 'keepStep'>>) | undefined;
  /** Supplies the recorded result of each `exec` with the same code and input; the others run. No recorded call of a tool runs again. */
  readonly replay?: (Pick<Recording, 'find'> & Partial<Pick<Recording, 'steps'>>) | undefined;
}

export const RUN_OPTIONS: OptionShape = {
  signal: 'signal',
  onEvent: 'function',
  maxVisits: 'number',
  onCheckpoint: 'function',
  resume: 'object',
  input: 'any',
  record: 'object',
  replay: 'object',
  maxCost: 'number',
  maxTokens: 'number',
  maxSeconds: 'number',
};
