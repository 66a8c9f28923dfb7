// The used part of `@opentelemetry/api`. It is an optional peer, so its own types may not be installed.

export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface Span {
  setAttribute(name: string, value: string | number | boolean | readonly string[]): void;
  addEvent(name: string, attributes: Record<string, string | number>, time: number): void;
  setStatus(status: { code: number; message?: string }): void;
  end(time?: number): void;
}

export interface Api {
  readonly trace: {
    getTracer(name: string): {
      startSpan(
        name: string,
        options: { startTime?: number; kind?: number; attributes?: Attributes },
        context: unknown,
      ): Span;
    };
    getSpan(context: unknown): Span | undefined;
    setSpan(context: unknown, span: Span): unknown;
  };
  readonly context: { active(): unknown; with<T>(context: unknown, call: () => T): T };
}

export const STATUS_ERROR = 2;
export const TRACER = 'farwharf';

// Where the API package stores what an SDK registered: if it is empty, there is no provider and the package need not be loaded.
const REGISTRY: unique symbol = Symbol.for('opentelemetry.js.api.1');

/** Whether an OpenTelemetry SDK has registered a tracer provider in this process. */
export function hasTracerProvider(): boolean {
  const globals: Pick<typeof globalThis, 'process'> & { readonly [REGISTRY]?: unknown } = globalThis;
  const registry = globals[REGISTRY];
  return typeof registry === 'object' && registry !== null && 'trace' in registry;
}

/** The API package of the process; undefined when it cannot be loaded from here. */
export async function openTelemetryApi(): Promise<Api | undefined> {
  const name = '@opentelemetry/api'; // not a literal in import(), or bundlers and the compiler would need the package
  try {
    const api: unknown = await import(name);
    return isApi(api) ? api : undefined;
  } catch {
    return undefined;
  }
}

function isApi(value: unknown): value is Api {
  return typeof value === 'object' && value !== null && 'trace' in value && 'context' in value;
}
