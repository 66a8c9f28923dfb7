import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test, type TestContext } from 'node:test';
import * as z from 'zod';
import {
  BudgetError,
  Flow,
  LLMClient,
  Node,
  Recording,
  tool,
  ToolLimitError,
  ToolNode,
  type ToolRun,
  type TraceEvent,
} from '../../../../src/agents/index.ts';
import { GUARD_MS } from '../../timeLimits.ts';
import { type Answer, chatServer, reply, toolCalls } from './llmServer.ts';

const ran: unknown[] = [];
const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number().default(1) }),
  run({ a, b }, { signal }) {
    ran.push([a, b, signal.aborted]);
    return { sum: a + b };
  },
});

async function client(t: TestContext, ...answers: readonly Answer[]) {
  const { baseUrl, requests } = await chatServer(t, ...answers);
  return { llm: new LLMClient({ baseUrl, model: 'm' }), requests };
}

const ask = [{ role: 'user', content: 'x' }];

/** The steps of a run whose model makes one call and then replies. */
async function oneCall(
  t: TestContext,
  name: string,
  args: string,
  options: Parameters<LLMClient['runTools']>[2] = {},
): Promise<ToolRun> {
  const { llm, requests } = await client(t, toolCalls([name, args]), reply('Done.'));
  const failing = tool({
    name: 'fail',
    description: 'Fails.',
    input: z.object({}),
    run() {
      throw new Error('the disk is full');
    },
  });
  const run = await llm.runTools(ask, [add, failing], options);
  // The model receives what the step has.
  const received = requests[1]?.body.messages.at(-1);
  const [step] = run.steps;
  assert.equal(received?.role, 'tool');
  assert.equal(received.content, step?.error ?? JSON.stringify(step?.output));
  assert.equal(run.text, 'Done.');
  return run;
}

test('runTools gives the model the schemas, runs its calls in order and returns the conversation', async (t) => {
  ran.length = 0;
  const { llm, requests } = await client(t, toolCalls(['add', '{"a":1,"b":2}'], ['add', '{"a":5}']), reply('3 and 6.'));
  const { text, messages, steps, usage } = await llm.runTools(ask, [add], { params: { temperature: 0 } });
  assert.equal(text, '3 and 6.');
  assert.deepEqual(steps, [
    { name: 'add', input: { a: 1, b: 2 }, output: { sum: 3 } },
    { name: 'add', input: { a: 5, b: 1 }, output: { sum: 6 } },
  ]);
  assert.deepEqual(ran, [
    [1, 2, false],
    [5, 1, false],
  ]);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'tool', 'assistant'],
  );
  assert.deepEqual([usage.inputTokens, usage.outputTokens], [200, 40]);
  const [declared] = (requests[0]?.body.tools ?? []) as {
    function: { name: string; parameters: { required: string[] } };
  }[];
  assert.equal(declared?.function.name, 'add');
  assert.deepEqual(declared.function.parameters.required, ['a']);
  assert.equal(requests[1]?.body.messages.length, 4);
});

test('what goes wrong in a call goes back to the model as the result', async (t) => {
  const errorOf = async (...call: readonly [string, string]): Promise<string | undefined> =>
    (await oneCall(t, ...call)).steps[0]?.error;
  assert.match((await errorOf('add', '{"a":"one"}')) ?? '', /do not match the schema:\n- a: /);
  assert.match((await errorOf('add', '{"a":')) ?? '', /not valid JSON/);
  assert.match((await errorOf('subtract', '{}')) ?? '', /no tool is called "subtract". Tools: add, fail/);
  assert.match((await errorOf('fail', '')) ?? '', /the disk is full/);
});

test('a call that is not approved does not run, and the model receives the refusal', async (t) => {
  ran.length = 0;
  const asked: unknown[] = [];
  const approve = async (call: object): Promise<boolean> => asked.push(call) > 1;
  const { steps } = await oneCall(t, 'add', '{"a":1}', { approve });
  assert.deepEqual(asked, [{ name: 'add', input: { a: 1, b: 1 } }]);
  assert.match(steps[0]?.error ?? '', /refused/);
  assert.deepEqual(ran, []);
});

test('only true approves a call: every other result, and an error, refuses it', async (t) => {
  ran.length = 0;
  for (const decision of [undefined, null, 'no', 'yes', 1, {}, { approved: false }, { approved: true }, false]) {
    const { steps } = await oneCall(t, 'add', '{"a":1}', { approve: (() => decision) as never });
    assert.equal(steps[0]?.error, 'Error: the user refused this call.', JSON.stringify(decision));
  }
  const approve = (): never => {
    throw new Error('the form is closed');
  };
  assert.match((await oneCall(t, 'add', '{"a":1}', { approve })).steps[0]?.error ?? '', /the form is closed/);
  assert.deepEqual(ran, []);
  assert.deepEqual((await oneCall(t, 'add', '{"a":1}', { approve: () => true })).steps[0]?.output, { sum: 2 });
});

test('a model that never stops calling tools is stopped after maxSteps replies, and the error loses nothing', async (t) => {
  ran.length = 0;
  const { llm, requests } = await client(t, toolCalls(['add', '{"a":1}'], ['add', '{"a":2}']));
  await assert.rejects(llm.runTools(ask, [add], { maxSteps: 3 }), (error) => {
    assert.ok(error instanceof ToolLimitError);
    assert.equal(error.code, 'limit');
    assert.match(error.message, /after 3 replies \(last: add\)/);
    assert.deepEqual(
      error.steps.map(({ output }) => output),
      [1, 2, 1, 2, 1, 2].map((a) => ({ sum: a + 1 })),
    );
    const roles = error.messages.map(({ role }) => role);
    assert.deepEqual(roles, ['user', ...Array.from({ length: 3 }, () => ['assistant', 'tool', 'tool']).flat()]);
    return true;
  });
  assert.equal(ran.length, 6);
  assert.equal(requests.length, 3);
  await assert.rejects(llm.runTools(ask, [add]), /after 10 replies/);
  await assert.rejects(llm.runTools(ask, [add], { maxSteps: 0 }), RangeError);
  await assert.rejects(llm.runTools(ask, [add], { parallel: 0 }), RangeError);
  await assert.rejects(llm.runTools(ask, [add], { schema: z.string() } as never), {
    name: 'TypeError',
    message: /^runTools has no option schema\. Its options: params, retries, timeout, signal, toolChoice, maxSteps, /,
  });
});

test('the calls of one reply run at once, up to a limit, and are approved one at a time', {
  timeout: GUARD_MS,
}, async (t) => {
  const [most, asked] = [
    { running: 0, asking: 0 },
    { running: 0, asking: 0 },
  ];
  const release = Array.from({ length: 6 }, () => Promise.withResolvers<void>());
  const wait = tool({
    name: 'wait',
    description: 'Waits for the calls after it.',
    input: z.object({ n: z.number() }),
    async run({ n }) {
      asked.running += 1;
      most.running = Math.max(most.running, asked.running);
      if (n % 3 === 2) for (const each of release.slice(n - 2, n + 1)) each.resolve();
      await release[n]?.promise;
      asked.running -= 1;
      return n;
    },
  });
  const approve = async (): Promise<boolean> => {
    asked.asking += 1;
    most.asking = Math.max(most.asking, asked.asking);
    await new Promise(setImmediate);
    asked.asking -= 1;
    return true;
  };
  const calls = Array.from({ length: 6 }, (_, n) => ['wait', `{"n":${n}}`] as const);
  const { llm } = await client(t, toolCalls(...calls), reply('Done.'));
  const { steps, messages } = await llm.runTools(ask, [wait], { parallel: 3, approve });
  assert.deepEqual(
    steps.map(({ output }) => output),
    [0, 1, 2, 3, 4, 5],
  );
  assert.deepEqual(
    messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : [])),
    ['0', '1', '2', '3', '4', '5'],
  );
  assert.deepEqual(most, { running: 3, asking: 1 });
});

test('an abort ends a tool, and a spent budget is not hidden from the run', async (t) => {
  const { llm } = await client(t, toolCalls(['wait', '{}']), reply('unused'));
  const stop = new AbortController();
  const wait = tool({
    name: 'wait',
    description: 'Waits.',
    input: z.object({}),
    run: (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('cleaned up')), { once: true });
        stop.abort(new Error('stop'));
      }),
  });
  await assert.rejects(llm.runTools(ask, [wait], { signal: stop.signal }), /^Error: stop$/);

  const { llm: other } = await client(t, toolCalls(['add', '{}']), reply('unused'));
  class Inner extends Node {
    override exec(): Promise<ToolRun> {
      const inner = tool({ name: 'add', description: 'Asks.', input: z.object({}), run: () => other.ask('x') });
      return other.runTools(ask, [inner]);
    }
  }
  await assert.rejects(new Inner().run({}, { maxTokens: 100 }), BudgetError);
});

test('a tool with a name that services refuse, or twice, is refused', async (t) => {
  const bad = (part: object): unknown => tool({ name: 'ok', description: '', input: z.object({}), run() {}, ...part });
  assert.throws(() => bad({ name: 'two words' }), { code: 'bad-input', message: /tool name "two words"/ });
  const { llm } = await client(t, reply('unused'));
  await assert.rejects(llm.runTools(ask, [add, add]), { code: 'bad-input', message: /same name/ });
});

test('a ToolNode works on messages or a prompt, is traced, and a replay runs no tool', async (t) => {
  ran.length = 0;
  const { llm, requests } = await client(t, toolCalls(['add', '{"a":1}']), reply('2.'));
  const node = new ToolNode<{ messages: unknown; answer?: string }>({ client: llm, tools: [add], name: 'work' });
  const flow = new Flow<{ messages: unknown; answer?: string }>({ start: node, name: 'main' }).connect(node, null);
  const recording = await Recording.open('/nonexistent/recording.jsonl');
  const events: TraceEvent[] = [];
  const shared: { messages: unknown; answer?: string } = { messages: ask };
  await flow.run(shared, { record: recording, onEvent: (event) => void events.push(event) });
  assert.equal(shared.answer, '2.');
  assert.equal((shared.messages as unknown[]).length, 4);
  const tools = events.flatMap((event) =>
    event.type === 'tool' ? [`${event.path} ${event.visit} ${event.name}`] : [],
  );
  assert.deepEqual(tools, ['main/work 1 add']);

  const again: { messages: unknown; answer?: string } = { messages: ask };
  await flow.run(again, { replay: recording });
  assert.equal(again.answer, '2.');
  assert.equal(ran.length, 1);
  assert.equal(requests.length, 2);
  await assert.rejects(flow.run({ messages: 7 }), {
    code: 'bad-input',
    message: /shared.messages must be the prompt of "work"/,
  });
});

test('an abort ends a run of tools although a tool or an approval ignores it', { timeout: GUARD_MS }, async (t) => {
  const { baseUrl } = await chatServer(t, toolCalls(['stuck', '{}']));
  const client = new LLMClient({ baseUrl, model: 'm' });
  const controllers = [new AbortController(), new AbortController()];
  const never = (controller: AbortController | undefined) => () => {
    controller?.abort(new Error('enough'));
    return new Promise<never>(() => {});
  };
  const stuck = tool({ name: 'stuck', description: 'Waits.', input: z.object({}), run: never(controllers[0]) });
  const ask = [{ role: 'user', content: 'Wait.' }];
  const [first, second] = controllers.map(({ signal }) => signal);
  await assert.rejects(client.runTools(ask, [stuck], { signal: first }), /enough/);
  await assert.rejects(client.runTools(ask, [stuck], { signal: second, approve: never(controllers[1]) }), /enough/);
  for (const { signal } of controllers) assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('a definition of a tool that could not run is refused', () => {
  const input = z.object({});
  for (const [definition, message] of [
    [null, 'tool takes its options as an object, not null: { name: … }.'],
    [{ description: 'd', input, run() {} }, 'The tool needs a name.'],
    [{ name: 'a', description: 'd', input }, 'The tool "a" needs run(input, context).'],
    [
      { name: 'a', description: 'd', run() {} },
      'The tool "a" needs the option input, a schema such as z.object({ … }).',
    ],
    [
      { name: 'a', description: 'd', input: { type: 'object' }, run() {} },
      'The option input of tool must be a schema, such as z.object({ … }), not an object.',
    ],
    [
      { name: 'a', description: 'd', input, run: 'x' },
      'The option run of tool must be a function, not the string "x".',
    ],
  ] as const) {
    assert.throws(() => tool(definition as never), { name: 'TypeError', message });
  }
});

test('a node with tools needs a client and a list of tools', () => {
  const client = new LLMClient({ baseUrl: 'http://localhost:9/v1' });
  for (const [options, message] of [
    [undefined, 'The option client of new ToolNode must be an LLMClient.'],
    [7, 'new ToolNode takes its options as an object, not the number 7: { client: … }.'],
    [{ tools: [] }, 'The option client of new ToolNode must be an LLMClient.'],
    [{ client: 5, tools: [] }, 'The option client of new ToolNode must be an object, not the number 5.'],
    [{ client }, 'The tools of new ToolNode must be an array of what tool() returns.'],
    [{ client, tools: [], inputKey: 5 }, 'The option inputKey of new ToolNode must be a string, not the number 5.'],
  ] as const) {
    assert.throws(() => new ToolNode(options as never), { name: 'TypeError', message });
  }
});

test('calls of tools are read as other services write them, and those without a name are none', async (t) => {
  const call = { name: 'add', arguments: { a: 2, b: 3 } };
  const { llm } = await client(
    t,
    reply(null, {
      message: { tool_calls: [{ id: 'x', function: call }, null, { type: 'function' }, { id: 'y', function: {} }] },
    }),
    reply('Five.'),
    reply('None.', { message: { tool_calls: {} } }),
  );
  const { text, steps } = await llm.runTools(ask, [add]);
  assert.equal(text, 'Five.');
  assert.deepEqual(
    steps.map(({ name, input, output }) => [name, input, output]),
    [['add', { a: 2, b: 3 }, { sum: 5 }]],
  );
  assert.equal((await llm.runTools(ask, [add])).text, 'None.');
});

test('the input of a tool may be no object, and null for an optional key is none', async (t) => {
  const seen: unknown[] = [];
  const list = tool({ name: 'list', description: '', input: z.array(z.string()), run: (input) => seen.push(input) });
  const action = z.discriminatedUnion('do', [
    z.object({ do: z.literal('stop') }),
    z.object({ do: z.literal('go'), to: z.string() }),
  ]);
  const either = tool({ name: 'either', description: '', input: action, run: (input) => seen.push(input) });
  const plain = tool({
    name: 'plain',
    description: '',
    input: z.object({ a: z.string().optional() }),
    run: (input) => seen.push(input),
  });
  const calls = toolCalls(['list', '{"value":["a"]}'], ['either', '{"value":{"do":"stop"}}'], ['plain', '{"a":null}']);
  const { baseUrl, requests } = await chatServer(t, calls, reply('done'));
  const llm = new LLMClient({ baseUrl, model: 'm' });
  await llm.runTools([{ role: 'user', content: 'x' }], [list, either, plain]);
  assert.deepEqual(seen, [['a'], { do: 'stop' }, {}]);
  const parameters = ((requests[0]?.body.tools ?? []) as { function: { parameters: Record<string, unknown> } }[]).map(
    (each) => each.function.parameters,
  );
  assert.deepEqual(
    parameters.map(({ type, $schema }) => [type, $schema]),
    [list, either, plain].map(() => ['object', undefined]),
  );
});
