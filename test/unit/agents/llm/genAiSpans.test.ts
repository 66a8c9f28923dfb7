// Spans of models, tools and agents in the real OpenTelemetry SDK, by the semantic conventions for generative AI (v1.41).
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test, type TestContext } from 'node:test';
import { type Context, context, type ContextManager, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import * as z from 'zod';
import { Flow, LLMClient, Node, ParallelFlow, tool, ToolNode } from '../../../../src/agents/index.ts';
import { chatServer, reply } from './llmServer.ts';

const storage = new AsyncLocalStorage<Context>();
/** Keeps the active context through awaits, as an SDK for Node.js does. */
const contexts: ContextManager = {
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (active, call, thisArg, ...args) => storage.run(active, () => call.apply(thisArg, args)),
  bind: (_active, target) => target,
  enable: () => contexts,
  disable: () => contexts,
};

function exporterOf(t: TestContext, { hasContexts }: { readonly hasContexts: boolean }): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  if (hasContexts) context.setGlobalContextManager(contexts);
  t.after(() => {
    trace.disable();
    context.disable();
  });
  return exporter;
}

function parentOf(spans: readonly ReadableSpan[], child: ReadableSpan | undefined): string | undefined {
  return spans.find((span) => span.spanContext().spanId === child?.parentSpanContext?.spanId)?.name;
}

const named = (spans: readonly ReadableSpan[], name: string): ReadableSpan =>
  spans.find((span) => span.name === name) ??
  assert.fail(`no span ${name} in ${spans.map((span) => span.name).join()}`);

for (const hasContexts of [true, false]) {
  test(`a model call in a node is a chat span below it, ${hasContexts ? 'with' : 'without'} a context manager`, async (t) => {
    const exporter = exporterOf(t, { hasContexts });
    const { baseUrl } = await chatServer(t, reply('Ahoy.'));
    const client = new LLMClient({
      baseUrl,
      model: 'test-1',
      params: { temperature: 0.5, max_tokens: 9, stop: ['x'], seed: 1 },
    });
    class Greet extends Node<object> {
      override exec(): Promise<string> {
        return client.ask('a secret prompt');
      }
    }
    await new Flow<object>({ start: new Greet(), name: 'main' }).run({}, { onEvent: () => {} });
    const spans = exporter.getFinishedSpans();
    const chat = named(spans, 'chat test-1');
    assert.equal(parentOf(spans, chat), 'main/Greet');
    assert.equal(chat.kind, SpanKind.CLIENT);
    const url = new URL(baseUrl);
    assert.deepEqual(chat.attributes, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'custom',
      'gen_ai.request.model': 'test-1',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 9,
      'gen_ai.request.seed': 1,
      'gen_ai.request.stop_sequences': ['x'],
      'gen_ai.response.id': 'chatcmpl-1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'server.address': '127.0.0.1',
      'server.port': Number(url.port),
    });
    const everything = JSON.stringify(spans.map(({ name, attributes, events }) => [name, attributes, events]));
    assert.doesNotMatch(everything, /secret prompt|Ahoy/);
  });

  test(`the tools of a ToolNode are spans below its agent, ${hasContexts ? 'with' : 'without'} a context manager`, async (t) => {
    const exporter = exporterOf(t, { hasContexts });
    const call = (id: string, name: string) => ({
      id,
      type: 'function',
      function: { name, arguments: '{"harbour":"Oslo"}' },
    });
    const { baseUrl } = await chatServer(
      t,
      reply(null, { message: { tool_calls: [call('c1', 'depth'), call('c2', 'missing')] } }),
      reply('12 m'),
    );
    const depth = tool({
      name: 'depth',
      description: 'The depth of a harbour.',
      input: z.object({ harbour: z.string() }),
      run: ({ harbour }) => `${harbour}: 12 m`,
    });
    const client = new LLMClient({ baseUrl, model: 'test-1' });
    const answer = new ToolNode({ client, tools: [depth], name: 'Answer' });
    await new Flow({ start: answer, name: 'main' }).run({ messages: 'How deep?' }, { onEvent: () => {} });
    const spans = exporter.getFinishedSpans();
    const agent = named(spans, 'invoke_agent Answer');
    assert.equal(parentOf(spans, agent), 'main/Answer');
    assert.equal(agent.kind, SpanKind.INTERNAL);
    assert.deepEqual(agent.attributes, {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'Answer',
      'gen_ai.provider.name': 'custom',
      'gen_ai.request.model': 'test-1',
      'gen_ai.usage.input_tokens': 200,
      'gen_ai.usage.output_tokens': 40,
    });
    const used = named(spans, 'execute_tool depth');
    assert.equal(used.kind, SpanKind.INTERNAL);
    assert.deepEqual(used.attributes, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'depth',
      'gen_ai.tool.call.id': 'c1',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.description': 'The depth of a harbour.',
    });
    assert.equal(named(spans, 'execute_tool missing').attributes['error.type'], '_OTHER');
    for (const name of ['execute_tool depth', 'execute_tool missing', 'chat test-1']) {
      assert.equal(parentOf(spans, named(spans, name)), 'invoke_agent Answer', name);
    }
    assert.doesNotMatch(
      JSON.stringify(spans.map(({ attributes, events }) => [attributes, events])),
      /Oslo|12 m|How deep/,
    );
  });
}

test('a call outside of a flow is a span below the active one, and a failed one has its error', async (t) => {
  const exporter = exporterOf(t, { hasContexts: true });
  const { baseUrl } = await chatServer(t, (response) => response.writeHead(400).end('{"error":{"message":"no"}}'));
  const client = new LLMClient({ baseUrl, model: 'test-1' });
  const outer = trace.getTracer('test').startSpan('outer');
  await context.with(trace.setSpan(ROOT_CONTEXT, outer), () => assert.rejects(client.ask('x')));
  outer.end();
  const spans = exporter.getFinishedSpans();
  const chat = named(spans, 'chat test-1');
  assert.equal(parentOf(spans, chat), 'outer');
  assert.equal(chat.status.code, 2);
  assert.match(String(chat.attributes['error.type']), /^[a-z-]+$/);
});

test('a streamed reply is one span, also if the reader leaves', async (t) => {
  const exporter = exporterOf(t, { hasContexts: true });
  const { baseUrl } = await chatServer(t, (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const content of ['Ahoy', ' there']) {
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
    }
  });
  const client = new LLMClient({ baseUrl, model: 'test-1' });
  for await (const piece of client.askStream('x')) {
    assert.equal(piece, 'Ahoy');
    break;
  }
  const [chat, ...others] = exporter.getFinishedSpans();
  assert.equal(chat?.name, 'chat test-1');
  assert.equal(others.length, 0);
  assert.equal(chat?.status.code, 0);
});

test('branches that run at the same time have their own spans, whichever ends first', async (t) => {
  const exporter = exporterOf(t, { hasContexts: false });
  class Both extends ParallelFlow<object, 'a' | 'b'> {
    override merge(): void {}
  }
  class Wait extends Node<object> {
    override async exec(): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, this.name === 'slow' ? 10 : 1));
    }
  }
  const inner = (name: string): Flow<object> => {
    const node = new Wait({ name });
    return new Flow<object>({ start: node }).connect(node, null);
  };
  await new Both({ branches: { a: inner('slow'), b: inner('fast') } }).run({}, { onEvent: () => {} });
  const spans = exporter.getFinishedSpans();
  assert.equal(parentOf(spans, named(spans, 'Both/a/slow')), 'Both/a');
  assert.equal(parentOf(spans, named(spans, 'Both/b/fast')), 'Both/b');
  assert.equal(parentOf(spans, named(spans, 'Both/a')), 'Both');
  assert.equal(spans.length, 5);
});
