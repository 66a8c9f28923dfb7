/** Where an event happened: the path of node names from the outermost flow, and which visit of that node this is (from 1). */
interface Place {
  readonly path: string;
  readonly node: string;
  readonly visit: number;
  /** Microseconds since the run began. Whole numbers keep traces small, on the heap and as JSON. */
  readonly at: number;
}

/** The position in the array that `prep` returned, in batch nodes. */
interface Item {
  readonly item?: number | undefined;
}

interface NodeStartEvent extends Place {
  readonly type: 'node-start' | 'flow-start';
}

interface NodeEndEvent extends Place {
  readonly type: 'node-end' | 'flow-end';
  /** The action as `post` returned it; absent when it returned none. */
  readonly action?: string | undefined;
  /** Time taken by `prep`, `exec` with all its attempts, and `post`. */
  readonly prepMicros: number;
  readonly execMicros: number;
  readonly postMicros: number;
  /** Sizes of what `prep` and `exec` returned, where they are cheap to know: characters, items or bytes. */
  readonly prepSize?: number | undefined;
  readonly execSize?: number | undefined;
  /** Whether a recording answered instead of `exec`. */
  readonly isReplayed: boolean;
}

/** An attempt at `exec`, in nodes that can make another one and for each item of a batch. */
interface AttemptEvent extends Place, Item {
  readonly type: 'attempt';
  /** From 1. */
  readonly attempt: number;
}

interface RetryEvent extends Place, Item {
  readonly type: 'retry';
  /** The attempt that failed. */
  readonly attempt: number;
  readonly waitMs: number;
  readonly message: string;
}

interface FallbackEvent extends Place, Item {
  readonly type: 'fallback';
  readonly message: string;
}

interface EdgeEvent extends Place {
  readonly type: 'edge';
  readonly action: string;
  /** The name of the next node; null where the flow ends. */
  readonly to: string | null;
}

interface WarningEvent extends Place {
  readonly type: 'warning';
  readonly action: string;
  readonly message: string;
}

interface ErrorEvent extends Place {
  readonly type: 'error';
  readonly message: string;
}

/** One call of a language model. Never holds the prompt, the answer or the key. */
export interface ModelCall {
  readonly provider: string;
  readonly model: string;
  readonly durationMs: number;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** US dollars by the list price that the client knows; absent for models without one. */
  readonly estimatedCost?: number | undefined;
  /** How often the request was sent again because of rate limits. */
  readonly retries: number;
}

interface ModelEvent extends Place, ModelCall {
  readonly type: 'model';
}

export type TraceEvent =
  | NodeStartEvent
  | NodeEndEvent
  | AttemptEvent
  | RetryEvent
  | FallbackEvent
  | EdgeEvent
  | WarningEvent
  | ErrorEvent
  | ModelEvent;

/** Why a recording has no result for a call. */
export type MissingReason = 'code' | 'input' | 'new';

/** Takes the events of a run. */
export interface TraceListener {
  onEvent(event: TraceEvent): void;
}

/** What an SDK that is registered in the process gets of a run. */
export interface Telemetry extends TraceListener {
  /** Calls a hook in the span of the visit under way, so that spans that libraries begin are below it. */
  inSpan<T>(hook: () => T): T;
}

/** Characters, items or bytes of a value where that costs nothing to know; undefined for everything else. */
export function cheapSize(value: unknown): number | undefined {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object') return undefined;
  if (Array.isArray(value)) return value.length;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (value instanceof Map || value instanceof Set) return value.size;
  return undefined;
}
