import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Flow, Node } from '../../../src/agents/index.ts';

// The part of the OpenTelemetry packages that the test uses. They are optional peers, so their types may not be there.
interface FinishedSpan {
  readonly name: string;
  readonly status: { readonly code: number };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string }[];
  readonly parentSpanContext?: { readonly spanId: string };
  spanContext(): { readonly spanId: string };
}
interface Sdk {
  InMemorySpanExporter: new () => { getFinishedSpans(): FinishedSpan[] };
  SimpleSpanProcessor: new (exporter: object) => object;
  BasicTracerProvider: new (options: { spanProcessors: object[] }) => object;
}
interface Api {
  trace: { setGlobalTracerProvider(provider: object): void; disable(): void };
}

const [apiName, sdkName] = ['@opentelemetry/api', '@opentelemetry/sdk-trace-base'];

test('with a tracer provider each visit is a span below that of its flow', async (t) => {
  let api: Api;
  let sdk: Sdk;
  try {
    api = (await import(apiName)) as Api;
    sdk = (await import(sdkName)) as Sdk;
  } catch {
    return t.skip(`${apiName} and ${sdkName} are not installed here: the spans are NOT tested`);
  }
  const exporter = new sdk.InMemorySpanExporter();
  const provider = new sdk.BasicTracerProvider({ spanProcessors: [new sdk.SimpleSpanProcessor(exporter)] });
  api.trace.setGlobalTracerProvider(provider);
  t.after(() => api.trace.disable());

  class Broken extends Node<object> {
    override exec(): void {
      throw new Error('no luck');
    }
  }
  const [first, broken] = [new Node<object>({ name: 'first' }), new Broken({ maxRetries: 2 })];
  const flow = new Flow<object>({ start: first, name: 'main' }).connect(first, broken);
  await assert.rejects(flow.run({}), /no luck/);

  const spans = exporter.getFinishedSpans();
  assert.deepEqual(
    spans.map(({ name }) => name),
    ['main/first', 'main/Broken', 'main'],
  );
  const [one, two, main] = spans;
  assert.equal(one?.parentSpanContext?.spanId, main?.spanContext().spanId);
  assert.equal(one?.attributes['farwharf.action'], 'default');
  assert.equal(two?.status.code, 2);
  assert.deepEqual(
    two?.events.map(({ name }) => name),
    ['attempt', 'retry', 'attempt'],
  );
});
