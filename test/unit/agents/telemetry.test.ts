import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { Flow, Node } from '../../../src/agents/index.ts';

test('with a tracer provider each visit is a span below that of its flow', async (t) => {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  t.after(() => trace.disable());

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
