import type { Checkpoint } from './schemas.ts';
import type { RunOptions } from './runOptions.ts';

/** A run that is about to begin: not one inside a flow, but each call of `run` itself. */
export interface StartingRun {
  /** The node or flow itself. */
  readonly unit: object;
  readonly name: string;
  readonly shared: unknown;
  readonly options: RunOptions;
}

/** A step that is done: `post` of a node, or of a flow, the outermost one included. */
export interface HostedStep {
  readonly path: string;
  readonly visit: number;
  /** Microseconds since the run began. */
  readonly at: number;
  readonly shared: unknown;
  /** Undefined for the outermost unit. Throws where the shared state is no plain data. */
  readonly checkpoint: (() => Checkpoint) | undefined;
}

/** A request to a language model with its answer, both as chat completions have them. */
export interface ModelExchange {
  readonly provider: string;
  readonly path: string | undefined;
  readonly visit: number | undefined;
  readonly request: Readonly<Record<string, unknown>>;
  readonly completion: unknown;
  readonly durationMs: number;
  /** US dollars by list price; undefined where that or the count of tokens is not known. */
  readonly cost: number | undefined;
}

/** The host's side of one run. */
export interface HostedRun {
  /** In place of those that `run` was called with. */
  readonly options: RunOptions;
  /** The run goes on when it is done. */
  stepped(step: HostedStep): void | Promise<void>;
  ended(end: { readonly at: number; readonly action?: unknown; readonly failure?: { readonly error: unknown } }): void;
  /** An answer to use in place of a call of the service. */
  findCompletion(provider: string, request: ModelExchange['request']): unknown;
  modelCalled(exchange: ModelExchange): void;
}

/** Sees and steers every run of its process: how a program runs flow files that know nothing of it. */
export interface RunHost {
  /** What it throws, `run` rejects with. */
  begin(run: StartingRun): HostedRun;
  /** The key of a model service by the name of its variable, where this process has no such variable. Absent where it has them all. */
  modelKey?(variable: string): Promise<string | undefined>;
}

// In the registry of symbols, because the file may bring its own copy of this library.
const RUN_HOST: unique symbol = Symbol.for('farwharf.runHost.1');

/** Makes this the host of all runs that begin from now on in this process. */
export function installRunHost(host: RunHost): void {
  Reflect.set(globalThis, RUN_HOST, host);
}

/** The host of this process, where there is one. */
export function runHost(): RunHost | undefined {
  // Not Reflect.get, which costs a short run an eighth of its time.
  const globals: Pick<typeof globalThis, 'process'> & { readonly [RUN_HOST]?: RunHost } = globalThis;
  return globals[RUN_HOST];
}
