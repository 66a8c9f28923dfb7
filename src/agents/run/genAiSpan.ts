import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError } from '../../core/errors.ts';
import { type Attributes, hasTracerProvider, openTelemetryApi, STATUS_ERROR, TRACER } from './openTelemetry.ts';
import { scopes } from './runScope.ts';

// Values of SpanKind in the API.
const KINDS = { internal: 0, client: 2 } as const;

/** A call of a model, a tool or an agent, as the semantic conventions for generative AI (v1.41) name it. */
export interface GenAiCall {
  readonly operation: 'chat' | 'execute_tool' | 'invoke_agent';
  /** The model, the tool or the agent. */
  readonly name: string;
  readonly attributes: Attributes;
}

/** A span in progress. */
export interface GenAiSpan {
  set(attributes: Attributes): void;
  /** Ends it, with the error that the call ended with, if any. */
  end(error?: unknown): void;
  /** Does work in which further spans are below this one. */
  within<T>(work: () => T): T;
}

const NO_SPAN: GenAiSpan = { set: () => {}, end: () => {}, within: (work) => work() };

/** The context of the innermost span that was created here, for programs without a context manager. */
const contexts = new AsyncLocalStorage<unknown>();

/** Starts the span of a call, below the active span or that of the visit. Without an SDK it does nothing. */
export async function startGenAiSpan({ operation, name, attributes }: GenAiCall): Promise<GenAiSpan> {
  const api = hasTracerProvider() ? await openTelemetryApi() : undefined;
  if (api === undefined) return NO_SPAN;
  const active = api.context.active();
  const parent =
    api.trace.getSpan(active) === undefined
      ? (contexts.getStore() ?? scopes.getStore()?.visit?.span?.context ?? active)
      : active;
  const span = api.trace.getTracer(TRACER).startSpan(
    `${operation} ${name}`,
    {
      kind: operation === 'chat' ? KINDS.client : KINDS.internal,
      attributes: { 'gen_ai.operation.name': operation },
    },
    parent,
  );
  const context = api.trace.setSpan(parent, span);
  const set = (values: Attributes): void => {
    for (const [key, value] of Object.entries(values)) if (value !== undefined) span.setAttribute(key, value);
  };
  set(attributes);
  return {
    set,
    end: (error) => {
      if (error !== undefined) {
        set({ 'error.type': errorType(error) });
        span.setStatus({ code: STATUS_ERROR });
      }
      span.end();
    },
    within: (work) => contexts.run(context, () => api.context.with(context, work)),
  };
}

/** Does the work of a call in its span. */
export async function inGenAiSpan<T>(call: GenAiCall, work: (span: GenAiSpan) => Promise<T>): Promise<T> {
  if (!hasTracerProvider()) return work(NO_SPAN);
  const span = await startGenAiSpan(call);
  try {
    const result = await span.within(() => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** A class of errors with few values: our code, or the name of the error. */
function errorType(error: unknown): string {
  if (error instanceof AppError) return error.code;
  return error instanceof Error ? error.name : '_OTHER';
}
