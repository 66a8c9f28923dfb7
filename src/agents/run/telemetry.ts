import type { Telemetry, TraceEvent, VisitSpan } from '../records/trace.ts';

// The used part of `@opentelemetry/api`. It is an optional peer, so its own types may not be installed.
interface Span {
  setAttribute(name: string, value: string | number | boolean): void;
  addEvent(name: string, attributes: Record<string, string | number>, time: number): void;
  setStatus(status: { code: number; message?: string }): void;
  end(time: number): void;
}
interface Api {
  readonly trace: {
    getTracer(name: string): { startSpan(name: string, options: { startTime: number }, context: unknown): Span };
    setSpan(context: unknown, span: Span): unknown;
  };
  readonly context: { active(): unknown; with<T>(context: unknown, call: () => T): T };
}

// Where the API package stores what an SDK registered: if it is empty, there is no provider and the package need not be loaded.
const REGISTRY: unique symbol = Symbol.for('opentelemetry.js.api.1');
const STATUS_ERROR = 2;

/** Whether an OpenTelemetry SDK has registered a tracer provider in this process. */
export function hasTracerProvider(): boolean {
  const globals: Pick<typeof globalThis, 'process'> & { readonly [REGISTRY]?: unknown } = globalThis;
  const registry = globals[REGISTRY];
  return typeof registry === 'object' && registry !== null && 'trace' in registry;
}

/**
 * Creates one span per visit of a node or flow, as children of the span that was active when the run started;
 * attempts, retries, fallbacks, model calls and warnings are events of their node's span.
 *
 * Undefined when `@opentelemetry/api` cannot be loaded from here.
 */
export async function openTelemetry(): Promise<Telemetry | undefined> {
  const name = '@opentelemetry/api'; // not a literal in import(), or bundlers and the compiler would need the package
  try {
    const api: unknown = await import(name);
    return isApi(api) ? spans(api) : undefined;
  } catch {
    return undefined;
  }
}

function isApi(value: unknown): value is Api {
  return typeof value === 'object' && value !== null && 'trace' in value && 'context' in value;
}

function spans(api: Api): Telemetry {
  const tracer = api.trace.getTracer('farwharf');
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
    } else {
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
