import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import * as z from 'zod';
import {
  type Checkpoint,
  Flow,
  LLMClient,
  Node,
  pause,
  PausedError,
  type RunToolsOptions,
  tool,
  type ToolEvent,
  ToolLimitError,
  ToolNode,
  type ToolRun,
  type TraceEvent,
} from '../../../../src/agents/index.ts';
import { type Answer, chatServer, json, reply, streamed, streamedReply, toolCalls } from './llmServer.ts';

const ask = [{ role: 'user', content: 'x' }];

async function client(t: TestContext, ...answers: readonly Answer[]) {
  const { baseUrl, requests } = await chatServer(t, ...answers);
  return { llm: new LLMClient({ baseUrl, model: 'm' }), requests };
}

/** A tool whose calls wait until they are released by their key; it knows what ran, and what was aborted. */
function gated() {
  const [began, aborted]: [string[], string[]] = [[], []];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gateOf = (key: string): PromiseWithResolvers<void> => {
    const gate = gates.get(key) ?? Promise.withResolvers<void>();
    gates.set(key, gate);
    return gate;
  };
  const look = tool({
    name: 'look',
    description: 'Looks.',
    input: z.object({ key: z.string(), unit: z.string().default('m') }),
    async run({ key, unit }, { signal }) {
      began.push(key);
      signal.addEventListener('abort', () => aborted.push(key));
      await gateOf(key).promise;
      if (key === 'bad') throw new Error('no such place');
      return `${key} ${unit}`;
    },
  });
  return { look, began, aborted, release: (key: string) => gateOf(key).resolve() };
}

const two = streamedReply(
  [{ reasoning_content: 'Look at ' }, { reasoning_content: 'both.' }, { content: 'I look.' }],
  ['look', '{"key":"a"}'],
  ['look', '{"key":"bad"}'],
);

test('streamTools yields text, reasoning, calls and results as they come, and returns what runTools does', async (t) => {
  const { llm, requests } = await client(t, two, streamedReply([{ content: 'It is ' }, { content: 'deep.' }]));
  const { look, release } = gated();
  const stream = llm.streamTools(ask, [look]);
  const events: ToolEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (event.type === 'call' && event.id === 'call_1') release('bad'); // the second ends first
    if (event.type === 'result') release('a');
  }
  assert.deepEqual(events, [
    { type: 'reasoning', text: 'Look at ' },
    { type: 'reasoning', text: 'both.' },
    { type: 'text', text: 'I look.' },
    { type: 'call', id: 'call_0', name: 'look', input: { key: 'a' } },
    { type: 'call', id: 'call_1', name: 'look', input: { key: 'bad' } },
    { type: 'result', id: 'call_1', name: 'look', error: 'Error: no such place' },
    { type: 'result', id: 'call_0', name: 'look', output: 'a m' },
    { type: 'text', text: 'It is ' },
    { type: 'text', text: 'deep.' },
  ]);
  const streamedRun = await stream.result;
  assert.deepEqual(
    streamedRun.steps.map(({ input }) => input),
    [
      { key: 'a', unit: 'm' },
      { key: 'bad', unit: 'm' },
    ],
  );
  assert.deepEqual([streamedRun.text, streamedRun.usage.inputTokens], ['It is deep.', 200]);
  assert.deepEqual(
    requests[1]?.body.messages.slice(2).map(({ content }) => content),
    ['a m', 'Error: no such place'],
  );
});

test('leaving the events ends the request, also before the first event', async (t) => {
  const closed = Promise.withResolvers<void>();
  const waiting: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"index":0,"delta":{"content":"One"},"finish_reason":null}]}\n\n');
    void once(response, 'close').then(() => closed.resolve());
  };
  const { llm } = await client(t, waiting);
  const stream = llm.streamTools(ask, []);
  for await (const event of stream) if (event.type === 'text') break;
  await closed.promise;
  await assert.rejects(stream.result, { name: 'AbortError' });
  const unread = llm.streamTools(ask, []);
  await unread[Symbol.asyncIterator]().return?.();
  await assert.rejects(unread.result, { name: 'AbortError' });
});

test('leaving the events aborts the running calls, and begins no other', async (t) => {
  const { llm, requests } = await client(t, two);
  const { look, began, aborted } = gated();
  for await (const event of llm.streamTools(ask, [look], { parallel: 1 })) {
    if (event.type !== 'call') continue;
    while (began.length === 0) await new Promise(setImmediate);
    break;
  }
  assert.deepEqual([began, aborted, requests.length], [['a'], ['a'], 1]);
});

test('an error comes after all events before it, and the limit has everything', async (t) => {
  const { llm } = await client(t, two, json(400, { error: { message: 'broken' } }));
  const { look, release } = gated();
  release('a');
  release('bad');
  const read = async (stream: AsyncIterable<ToolEvent>, seen: ToolEvent[]): Promise<void> => {
    for await (const event of stream) seen.push(event);
  };
  const seen: ToolEvent[] = [];
  await assert.rejects(read(llm.streamTools(ask, [look]), seen), /broken/);
  assert.equal(seen.length, 7);
  const { llm: endless } = await client(t, two);
  const limited = endless.streamTools(ask, [look], { maxSteps: 1 });
  const all: ToolEvent[] = [];
  await assert.rejects(read(limited, all), (error) => {
    assert.ok(error instanceof ToolLimitError);
    assert.deepEqual([error.messages.length, error.steps.length], [4, 2]);
    return true;
  });
  assert.equal(all.length, 7);
  await assert.rejects(limited.result, ToolLimitError);
});

test('streamTools refuses options that it does not know', async (t) => {
  const { llm } = await client(t, reply('x'));
  const wrong: object = { maxStep: 3 };
  assert.throws(() => llm.streamTools(ask, [], wrong), /streamTools has no option maxStep. Did you mean maxSteps\?/);
});

class Agent extends Node<{ text?: string }, undefined, ToolRun> {
  readonly llm: LLMClient;
  readonly tools: Parameters<LLMClient['streamTools']>[1];
  readonly options: RunToolsOptions;
  readonly seen: ToolEvent[] = [];

  constructor(llm: LLMClient, tools: Agent['tools'], options: RunToolsOptions = {}) {
    super({ maxRetries: 2 });
    this.llm = llm;
    this.tools = tools;
    this.options = options;
  }

  override async exec(_prepared: undefined, { emit }: Parameters<Node['exec']>[1]): Promise<ToolRun> {
    const stream = this.llm.streamTools(ask, this.tools, this.options);
    for await (const event of stream) {
      this.seen.push(event);
      if (event.type === 'result') emit(event.output ?? event.error);
    }
    return stream.result;
  }

  override post(shared: { text?: string }, _prepared: undefined, run: ToolRun): void {
    shared.text = run.text;
  }
}

test('in a node, a retry repeats the events of finished calls and runs none of them again', async (t) => {
  const broken = json(400, { error: { message: 'broken' } });
  const { llm, requests } = await client(t, two, broken, streamedReply([{ content: 'Done.' }]));
  const { look, began, release } = gated();
  release('a');
  release('bad');
  const agent = new Agent(llm, [look]);
  const events: TraceEvent[] = [];
  const shared: { text?: string } = {};
  await new Flow({ start: agent }).run(shared, { onEvent: (event) => void events.push(event) });
  assert.deepEqual([shared.text, began, requests.length], ['Done.', ['a', 'bad'], 3]);
  const types = agent.seen.map(({ type }) => type).join(' ');
  const calls = 'text call call result result';
  assert.equal(types, `reasoning reasoning ${calls} reasoning ${calls} text`);
  const reported = events.flatMap(({ type }) => (type === 'call' || type === 'tool' ? [type] : []));
  assert.deepEqual(reported, ['call', 'call', 'tool', 'tool', 'tool', 'tool']);
});

test('a pause in approve ends the run, the answer runs the call, and the model is not asked again', async (t) => {
  const { llm, requests } = await client(t, two, streamedReply([{ content: 'Done.' }]));
  const { look, began, release } = gated();
  release('a');
  release('bad');
  const approve: RunToolsOptions['approve'] = ({ input }) =>
    JSON.stringify(input).includes('bad') || pause({ question: 'Look?' });
  const flow = new Flow({ start: new Agent(llm, [look], { approve }) });
  const stopped = await flow.run({}).catch((error: unknown) => error);
  assert.ok(stopped instanceof PausedError, String(stopped));
  assert.deepEqual(stopped.checkpoint.pause?.call, { name: 'look', input: { key: 'a', unit: 'm' } });
  const shared: { text?: string } = {};
  const resume = JSON.parse(JSON.stringify(stopped.checkpoint)) as Checkpoint;
  await flow.run(shared, { resume, input: 'yes' });
  assert.deepEqual([shared.text, began, requests.length], ['Done.', ['bad', 'a'], 2]);
});

test('a ToolNode streams with the option stream, so that text and reasoning are in the trace', async (t) => {
  const answers = [two, streamedReply([{ content: 'Deep.' }])];
  const { llm, requests } = await client(t, ...answers, toolCalls(['look', '{"key":"a"}']), streamed([]));
  const { look, release } = gated();
  release('a');
  release('bad');
  const said: string[] = [];
  const node = new ToolNode({ client: llm, tools: [look], stream: true });
  const shared: { messages: string; answer?: string } = { messages: 'How deep?' };
  await node.run(shared, {
    onEvent: (event) => void ((event.type === 'token' || event.type === 'reasoning') && said.push(event.text)),
  });
  assert.deepEqual([shared.answer, said], ['Deep.', ['Look at ', 'both.', 'I look.', 'Deep.']]);
  assert.deepEqual(
    requests.map(({ body }) => body.stream),
    [true, true],
  );
});
