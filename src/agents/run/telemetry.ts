import type { Telemetry, TraceEvent, VisitSpan } from '../records/trace.ts';
import { type Api, openTelemetryApi, type Span, STATUS_ERROR, TRACER } from './openTelemetry.ts';

// Calls of models and tools have spans of their own, and pieces of replies are in no span.
const NO_EVENTS: ReadonlySet<string> = new Set(['model', 'call', 'tool', 'token', 'reasoning']);

/**
 * Creates one span per visit of a node or flow, as children of the span that was active when the run started;
 * attempts, retries, fallbacks and warnings are events of their node's span.
 *
 * Undefined when `@opentelemetry/api` cannot be loaded from here.
 */
export async function openTelemetry(): Promise<Telemetry | undefined> {
  const api = await openTelemetryApi();
  return api && spans(api);
}

function spans(api: Api): Telemetry {
  const tracer = api.trace.getTracer(TRACER);
  const root = api.context.active();
  const startedAt = Date.now();
  return {
    start: (event, outer) => {
      const parent = outer instanceof SpanOfVisit ? outer.context : root;
      const span = tracer.startSpan(event.path, { startTime: startedAt + event.at / 1000 }, parent);
      span.setAttribute('farwharf.visit', event.visit);
      return new SpanOfVisit(api, span, api.trace.setSpan(root, span), startedAt);
    },
  };
}

class SpanOfVisit implements VisitSpan {
  readonly context: unknown;
  readonly #api: Api;
  readonly #span: Span;
  readonly #startedAt: number;

  constructor(api: Api, span: Span, context: unknown, startedAt: number) {
    this.#api = api;
    this.#span = span;
    this.context = context;
    this.#startedAt = startedAt;
  }

  inSpan<T>(hook: () => T): T {
    return this.#api.context.with(this.context, hook);
  }

  onEvent(event: TraceEvent): void {
    const time = this.#startedAt + event.at / 1000;
    if (event.type === 'node-end' || event.type === 'flow-end') {
      this.#span.setAttribute('farwharf.action', event.action ?? 'default');
      this.#span.end(time);
    } else if (event.type === 'error') {
      this.#span.setStatus({ code: STATUS_ERROR, message: event.message });
      this.#span.end(time);
    } else if (!NO_EVENTS.has(event.type)) {
      this.#span.addEvent(event.type, attributesOf(event), time);
      if (event.type === 'pause') this.#span.end(time);
    }
  }
}

function attributesOf(event: TraceEvent): Record<string, string | number> {
  const attributes: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(event)) {
    if (typeof value === 'string' || typeof value === 'number') attributes[name] = value;
  }
  return attributes;
}
