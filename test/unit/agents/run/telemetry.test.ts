import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test, type TestContext } from 'node:test';
import { type Context, context, type ContextManager, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { Flow, Node } from '../../../../src/agents/index.ts';

function exporterOf(t: TestContext): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  t.after(() => trace.disable());
  return exporter;
}

/** Keeps the active context through awaits, as an SDK for Node.js does. */
class AsyncContexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    call: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(active, () => call.apply(thisArg, args));
  }
  bind<T>(_active: Context, target: T): T {
    return target;
  }
  enable(): this {
    return this;
  }
  disable(): this {
    return this;
  }
}

test('with a tracer provider each visit is a span below that of its flow', async (t) => {
  const exporter = exporterOf(t);
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

test('a span that a library begins in a hook is below the span of its node', async (t) => {
  const exporter = exporterOf(t);
  context.setGlobalContextManager(new AsyncContexts());
  t.after(() => context.disable());

  const library = async (name: string): Promise<void> => {
    await Promise.resolve();
    trace.getTracer('library').startSpan(name).end();
  };
  class Caller extends Node<object> {
    override prep(): Promise<void> {
      return library('read');
    }
    override async exec(): Promise<void> {
      await library('first attempt');
      throw new Error('no luck');
    }
    override execFallback(): Promise<void> {
      return library('fallback');
    }
    override post(): Promise<void> {
      return library('write');
    }
  }
  const inner = new Flow<object>({ start: new Caller(), name: 'inner' });
  await new Flow<object>({ start: inner, name: 'main' }).run({});
  await library('after');

  const spans = exporter.getFinishedSpans();
  const idOf = (name: string): string | undefined => spans.find((span) => span.name === name)?.spanContext().spanId;
  const parentOf = (name: string): string | undefined =>
    spans.find((span) => span.name === name)?.parentSpanContext?.spanId;
  for (const name of ['read', 'first attempt', 'fallback', 'write']) {
    assert.equal(parentOf(name), idOf('main/inner/Caller'), name);
  }
  assert.equal(parentOf('main/inner/Caller'), idOf('main/inner'));
  assert.ok(idOf('after') !== undefined && parentOf('after') === undefined);
});

test('an abort ends the spans of all visits under way, as failed', async (t) => {
  const exporter = exporterOf(t);
  const controller = new AbortController();
  class Stopping extends Node<object> {
    override async exec(): Promise<void> {
      controller.abort(new Error('stop'));
    }
  }
  const flow = new Flow<object>({ start: new Stopping(), name: 'main' });
  await assert.rejects(flow.run({}, { signal: controller.signal }), /stop/);
  assert.deepEqual(
    exporter.getFinishedSpans().map(({ name, status }) => [name, status.message]),
    [
      ['main/Stopping', 'stop'],
      ['main', 'stop'],
    ],
  );
});
