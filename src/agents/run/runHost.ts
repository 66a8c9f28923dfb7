import type { Checkpoint } from '../records/recordSchemas.ts';
import type { RunOptions } from './runOptions.ts';

/** A run that is about to start: a call of `run`, not a visit inside a flow. */
export interface StartingRun {
  /** The node or flow itself. */
  readonly unit: object;
  readonly name: string;
  readonly shared: unknown;
  readonly options: RunOptions;
  /** Whether a hook of another run started it. */
  readonly isInner?: boolean;
}

/** An item or a branch that a step belongs to. */
export interface HostedPart {
  /** `main/Each[2]`, `main/Gather/news`. */
  readonly path: string;
  /** The path of the item before it, whose state is of no interest any more. */
  readonly previous: string | undefined;
}

/** A finished step: `post` of a node or a flow, including the outermost one. */
export interface HostedStep {
  readonly path: string;
  readonly visit: number;
  /** Microseconds since the run began. */
  readonly at: number;
  /** The state that its hooks got. */
  readonly shared: unknown;
  /** The item or branch whose own state that is; undefined for the shared state of the run. */
  readonly part: HostedPart | undefined;
  /** Undefined for the outermost unit, and for what runs beside others. Throws if the shared state is not plain data. */
  readonly checkpoint: (() => Checkpoint) | undefined;
}

/** A request to a language model with its reply, both in the format of chat completions. */
export interface ModelExchange {
  readonly provider: string;
  /** The visit that sent the request. */
  readonly path: string | undefined;
  readonly visit: number | undefined;
  readonly request: Readonly<Record<string, unknown>>;
  readonly completion: unknown;
  readonly durationMs: number;
  /** US dollars by list price; undefined if that or the number of tokens is unknown. */
  readonly cost: number | undefined;
}

/** The host's side of one run. */
export interface HostedRun {
  /** Replaces the options that `run` was called with. */
  readonly options: RunOptions;
  /** The run waits for the returned promise. */
  stepped(step: HostedStep): void | Promise<void>;
  ended(end: { readonly at: number; readonly action?: unknown; readonly failure?: { readonly error: unknown } }): void;
  /** A reply to use instead of calling the service. */
  findCompletion(provider: string, request: ModelExchange['request']): unknown;
  modelCalled(exchange: ModelExchange): void;
}

/** Observes and controls every run of its process, so that a program can run any flow file. */
export interface RunHost {
  /** `run` rejects with what it throws. */
  begin(run: StartingRun): HostedRun;
  /** The key of a model service by the name of its variable, which this process does not have. Absent if it has all variables. */
  modelKey?(variable: string): Promise<string | undefined>;
}

// In the symbol registry, because the file may bring its own copy of this library.
const RUN_HOST: unique symbol = Symbol.for('farwharf.runHost.1');

/** Makes this the host of all runs that start in this process from now on. */
export function installRunHost(host: RunHost): void {
  Reflect.set(globalThis, RUN_HOST, host);
}

/** The host of this process, if there is one. */
export function runHost(): RunHost | undefined {
  // Not Reflect.get, which costs a short run an eighth of its time.
  const globals: Pick<typeof globalThis, 'process'> & { readonly [RUN_HOST]?: RunHost } = globalThis;
  return globals[RUN_HOST];
}
