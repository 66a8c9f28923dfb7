import type { Checkpoint } from '../../../agents/run/schemas.ts';
import type { ExactGraph } from '../../graph/exactGraph.ts';
import type { VariableSource } from './flowEnvironment.ts';
import type { FlowFailure, RunEvent } from './runEvent.ts';
import type { StateView } from './stateView.ts';

/** What to run, and how. Paths are absolute. */
export interface FlowRunRequest extends VariableSource {
  readonly file: string;
  /** The export to run; needed only where the file has several flows. */
  readonly flow?: string | undefined;
  /** The shared state to begin with. In a file that runs its flow itself, these keys replace those that it sets. */
  readonly shared?: Readonly<Record<string, unknown>> | undefined;
  /** What the file finds in `process.argv` after its own path. */
  readonly args?: readonly string[] | undefined;
  readonly cwd: string;
  /** Where the run keeps its trace, recording, checkpoints and model calls; nothing is kept without it. */
  readonly folder?: string | undefined;
  /** The folder of an earlier run, whose results stand in for every `exec` with the same code and input. */
  readonly replay?: string | undefined;
  /** Where an earlier run stood; this one goes on after that node. */
  readonly resume?: Checkpoint | undefined;
  /** Waits for a debugger before the first line of the file. */
  readonly isDebugged?: boolean | undefined;
  /** Loads the file, tells the graphs of its flows, and runs none of them. */
  readonly isGraphOnly?: boolean | undefined;
  /** No network and no live model: what is not recorded fails. For tests. */
  readonly isOffline?: boolean | undefined;
}

/** The programs that a run needs. */
export interface FlowRuntime {
  /** `dist/flowRunner.mjs`, or its source. */
  readonly runner: string;
  /** A program and its arguments that starts Node, to take something away from it. */
  readonly starter?: readonly string[] | undefined;
  /** A Node of version 22.18 or newer; an editor's own program is one too, with `ELECTRON_RUN_AS_NODE` in `env`. */
  readonly node: string;
}

/** What happens in the child while it runs. */
export type FlowProcessEvent =
  | { readonly type: 'started'; readonly pid: number; readonly node: string; readonly nodeVersion: string }
  /** Which copy of `farwharf/agents` the file got: the folder's own, or the runner's. */
  | { readonly type: 'library'; readonly path: string }
  /** The child waits for a debugger there. */
  | { readonly type: 'debugger'; readonly host: string; readonly port: number; readonly url: string }
  | { readonly type: 'run'; readonly event: RunEvent }
  /** A line of the flow's own output, without its end; a very long one comes in pieces. */
  | { readonly type: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string; readonly isWhole: boolean }
  /** The flows of the file, where only these were asked for. */
  | { readonly type: 'graph'; readonly graphs: readonly ExactGraph[] }
  /** A remark of the runner: what it did for the file, or what is wrong with it. */
  | { readonly type: 'note'; readonly message: string };

/** How it ended. */
export type FlowOutcome =
  | {
      readonly type: 'done';
      readonly action: string | undefined;
      /** The shared state at the end. */
      readonly shared: StateView;
      /** Of the process: not 0 where the file said so itself. */
      readonly exitCode: number;
    }
  | { readonly type: 'failed'; readonly error: FlowFailure }
  /** The file could not be run as it is: no flow, several, a syntax error, a package that is not there, a Node that is too old. */
  | { readonly type: 'refused'; readonly error: FlowFailure }
  /** The process ended before the flow had: `process.exit` was called, or (status 13) nothing was left that could wake it. */
  | { readonly type: 'exited'; readonly code: number }
  /** Another process, or the system, ended the child. */
  | { readonly type: 'killed'; readonly signal: string }
  /** The caller's signal ended it. */
  | { readonly type: 'stopped' };
