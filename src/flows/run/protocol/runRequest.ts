import type { Checkpoint } from '../../../agents/records/recordSchemas.ts';
import type { ExactGraph } from '../../graph/exactGraph.ts';
import type { VariableSource } from './flowEnvironment.ts';
import type { RunEvent } from './runEvent.ts';
import type { ViewLimits } from './stateView.ts';

/** What to run and how. Paths are absolute. */
export interface FlowRunRequest extends VariableSource {
  readonly file: string;
  /** The export to run; needed only if the file has several flows. */
  readonly flow?: string | undefined;
  /** The name of that flow in trace events, if the file runs it itself; from `chooseFlow`. */
  readonly flowName?: string | undefined;
  /** The initial shared state. If the file runs its flow itself, these keys replace those that it sets. */
  readonly shared?: Readonly<Record<string, unknown>> | undefined;
  /** The arguments in `process.argv` after the path of the file. */
  readonly args?: readonly string[] | undefined;
  readonly cwd: string;
  /** The folder for trace, recording, checkpoints and model calls; without it, nothing is stored. */
  readonly folder?: string | undefined;
  /** The folder of an earlier run, whose results are used for each `exec` with the same code and input. */
  readonly replay?: string | undefined;
  /** Steps, by their path without visit numbers, that run live in a replay, and the files in which their code changed. */
  readonly stale?: Readonly<Record<string, string>> | undefined;
  /** A checkpoint of an earlier run; this run continues after its node, with the current code. */
  readonly resume?: Checkpoint | undefined;
  /** The answer to a `resume` that waits for one: plain JSON. */
  readonly input?: unknown;
  /** Waits for a debugger before the first line of the file. */
  readonly isDebugged?: boolean | undefined;
  /** Stops the flow after the first visit of a node, which is reported by `visited`. */
  readonly isOneVisit?: boolean | undefined;
  /** Loads the file and sends the graphs of its flows without running them. */
  readonly isGraphOnly?: boolean | undefined;
  /** How much of the shared state is reported; the default is for display. */
  readonly viewLimits?: ViewLimits | undefined;
  /** No network and no live model: a call that is not recorded fails. For tests. */
  readonly isOffline?: boolean | undefined;
}

/** The programs that a run needs. */
export interface FlowRuntime {
  /** `dist/flowRunner.mjs`, or its source. */
  readonly runner: string;
  /** A program with arguments that starts Node in a restricted environment. */
  readonly starter?: readonly string[] | undefined;
  /** Node 22.18 or newer, or an editor's own program with `ELECTRON_RUN_AS_NODE` in `env`. */
  readonly node: string;
}

/** What happens in the child while it runs. */
export type FlowProcessEvent =
  | { readonly type: 'started'; readonly pid: number; readonly node: string; readonly nodeVersion: string }
  /** Which copy of `farwharf/agents` the file got: the folder's own, or the runner's. */
  | { readonly type: 'library'; readonly path: string }
  /** The child waits for a debugger at this address. */
  | { readonly type: 'debugger'; readonly host: string; readonly port: number; readonly url: string }
  | { readonly type: 'run'; readonly event: RunEvent }
  /** A line of the flow's own output without its line break; a very long line arrives in pieces. */
  | { readonly type: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string; readonly isWhole: boolean }
  /** A model service needs the key in this variable, and there is none. */
  | { readonly type: 'missingKey'; readonly variable: string }
  /** The only visit that was requested has ended, and its files are written. */
  | { readonly type: 'visited' }
  /** The flows of the file, if only these were requested. */
  | { readonly type: 'graph'; readonly graphs: readonly ExactGraph[] }
  /** A note of the runner about what it did for the file, or about a problem with it. */
  | { readonly type: 'note'; readonly message: string };
