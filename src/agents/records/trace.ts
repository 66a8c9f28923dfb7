/** The position of an event: the path of node names from the outermost flow, and the number of the visit, from 1. */
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

interface VisitEnd {
  readonly type: 'node-end' | 'flow-end';
  /** The action as `post` returned it; absent if it returned none. */
  readonly action?: string | undefined;
  /** Time taken by `prep`, `exec` with all its attempts, and `post`. */
  readonly prepMicros: number;
  readonly execMicros: number;
  readonly postMicros: number;
  /** Sizes of the results of `prep` and `exec`, if they are cheap to find: characters, items or bytes. */
  readonly prepSize?: number | undefined;
  readonly execSize?: number | undefined;
  /** Whether the result came from a recording instead of `exec`. */
  readonly isReplayed: boolean;
}

/** Tokens of one or more requests to a language model; each is absent if unknown. */
export interface TokenCounts {
  readonly inputTokens?: number | undefined;
  /** The part of `inputTokens` that the service had stored, and that has a price of its own. */
  readonly cachedInputTokens?: number | undefined;
  /** The part of `inputTokens` that the service stored for later requests. */
  readonly cacheWriteTokens?: number | undefined;
  /** The parts of `inputTokens` and `outputTokens` that were sound. */
  readonly audioInputTokens?: number | undefined;
  readonly audioOutputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** The part of `outputTokens` that was reasoning. */
  readonly reasoningTokens?: number | undefined;
}

/** One call of a language model. Never contains the prompt, the reply or the key. */
export interface ModelCall extends TokenCounts {
  readonly provider: string;
  readonly model: string;
  readonly durationMs: number;
  /** US dollars by list price; absent for models without a known price. */
  readonly estimatedCost?: number | undefined;
  /** The number of retries because of rate limits and other failures that may pass. */
  readonly retries: number;
}

/** A wait for a language model that is busy or has failed, before the call is sent again. */
export interface ModelWait {
  readonly provider: string;
  readonly model: string;
  readonly waitMs: number;
}

/** A model failed for good, and the next one of `fallback` gets the request. */
export interface ModelFallbackReport {
  readonly provider: string;
  readonly model: string;
  readonly nextProvider: string;
  readonly nextModel: string;
  /** Why the model failed. */
  readonly message: string;
}

/** A call of a tool by a model. Never contains the arguments or the result. */
export interface ToolReport {
  readonly name: string;
  readonly durationMs: number;
  /** What went wrong, as reported to the model. */
  readonly error?: string | undefined;
  /** Whether the result is that of an earlier attempt or run, in which the call ended. */
  readonly isReplayed?: boolean | undefined;
  /** How much of the result the model did not get, because of `maxResultTokens`; an estimate. */
  readonly omittedTokens?: number | undefined;
}

/** Messages of a conversation were left out of a request, because of its `history` policy. Tokens are estimates. */
export interface HistoryReport {
  /** The number of messages. */
  readonly leftOut: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly isSummarized: boolean;
}

export type TraceEvent = Place &
  /** `lane` has the numbers of the items or branches that it runs in beside others, from the outermost inwards. */
  (
    | { readonly type: 'node-start' | 'flow-start'; readonly lane?: readonly number[] | undefined }
    | VisitEnd
    /** An attempt of `exec`, from 1, in nodes with retries and for each item of a batch. */
    | (Item & { readonly type: 'attempt'; readonly attempt: number })
    /** `attempt` is the one that failed. */
    | (Item & { readonly type: 'retry'; readonly attempt: number; readonly waitMs: number; readonly message: string })
    | (Item & { readonly type: 'fallback'; readonly message: string })
    /** `to` is the name of the next node; null if the flow ends. */
    | { readonly type: 'edge'; readonly action: string; readonly to: string | null }
    | { readonly type: 'warning'; readonly action: string; readonly message: string }
    | { readonly type: 'error'; readonly message: string }
    | (ModelCall & { readonly type: 'model' })
    | (ModelWait & { readonly type: 'wait' })
    | (HistoryReport & { readonly type: 'history' })
    | (ModelFallbackReport & { readonly type: 'model-fallback' })
    /** A call of a tool begins to run; `tool` is its end. */
    | { readonly type: 'call'; readonly name: string }
    | (ToolReport & { readonly type: 'tool' })
    /** The run waits for a person: the end of the visit of the node that paused, and of the flows around it. */
    | { readonly type: 'pause'; readonly question: string; readonly choices?: readonly string[] | undefined }
    /** A piece of a streamed reply, or of the reasoning before it. */
    | { readonly type: 'token' | 'reasoning'; readonly text: string }
    /** What a hook passed to `context.emit`. */
    | (Item & { readonly type: 'emit'; readonly data: unknown })
  );

/** Why a recording has no result for a call. */
export type MissingReason = 'code' | 'input' | 'new';

export interface TraceListener {
  onEvent(event: TraceEvent): void;
}

/** Creates the spans of a run for a registered SDK. */
export interface Telemetry {
  /** Starts the span of a visit, below that of the visit around it. */
  start(event: TraceEvent, outer: VisitSpan | undefined): VisitSpan;
}

/** The span of one visit. */
export interface VisitSpan extends TraceListener {
  /** The context of the SDK in which it is the active span. */
  readonly context: unknown;
  /** Calls a hook in the span, so that spans of libraries become its children. */
  inSpan<T>(hook: () => T): T;
}

/** Characters, items or bytes of a value if that is cheap to find; undefined for everything else. */
export function cheapSize(value: unknown): number | undefined {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object') return undefined;
  if (Array.isArray(value)) return value.length;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (value instanceof Map || value instanceof Set) return value.size;
  return undefined;
}
