import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import * as z from 'zod';
import { LLMClient, tool, type TraceEvent, Flow, Node } from '../../../../src/agents/index.ts';
import { type Answer, chatServer, json, type ReceivedRequest, reply } from './llmServer.ts';

type Body = Readonly<Record<string, unknown>>;

const bodyOf = (request: ReceivedRequest | undefined): Body => request?.body as unknown as Body;
const text = (value: string): object => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text: value }],
});
const thought = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'why' }],
  encrypted_content: 'gAAA',
};
const called = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'depth', arguments: '{"harbour":"Oslo"}' };
const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 12 },
  total_tokens: 120,
};

function response(output: readonly object[], fields: object = {}): object {
  return { id: 'resp_1', object: 'response', model: 'gpt-5-codex', status: 'completed', output, usage, ...fields };
}

const answer = (output: readonly object[], fields?: object): Answer => json(200, response(output, fields));

function events(...list: readonly object[]): Answer {
  return (outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of list)
      outgoing.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
    outgoing.end();
  };
}

async function client(t: TestContext, answers: readonly Answer[], options: object = {}) {
  const server = await chatServer(t, ...answers);
  const llm = new LLMClient({
    provider: 'openai',
    model: 'gpt-5',
    api: 'responses',
    apiKey: 'sk-1',
    baseUrl: server.baseUrl,
    ...options,
  });
  return { ...server, llm };
}

const depth = tool({
  name: 'depth',
  description: 'The depth of a harbour.',
  input: z.object({ harbour: z.string() }),
  run: ({ harbour }) => `${harbour}: 12 m`,
});

test('a request is written for /responses, and its reply is read as any other', async (t) => {
  const { llm, requests } = await client(t, [answer([thought, text('Hello.')])]);
  const result = await llm.chatWithTools(
    [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
        ],
      },
    ],
    { params: { max_tokens: 50, reasoning_effort: 'low', verbosity: 'low', temperature: 1 } },
  );
  assert.equal(requests[0]?.path, '/v1/responses');
  assert.deepEqual(bodyOf(requests[0]), {
    store: false,
    temperature: 1,
    model: 'gpt-5',
    input: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Hi' },
          { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
        ],
      },
    ],
    max_output_tokens: 50,
    reasoning: { effort: 'low' },
    text: { verbosity: 'low' },
    include: ['reasoning.encrypted_content'],
  });
  const { content, reasoning, finishReason, usage: counted } = result;
  assert.deepEqual({ content, reasoning, finishReason }, { content: 'Hello.', reasoning: 'why', finishReason: 'stop' });
  assert.deepEqual(counted, {
    inputTokens: 100,
    cachedInputTokens: 60,
    outputTokens: 20,
    reasoningTokens: 12,
    cost: undefined,
  });
});

test('tools run, and the reasoning items of a reply go back with their calls', async (t) => {
  const { llm, requests } = await client(t, [answer([thought, called]), answer([text('12 m.')])]);
  const run = await llm.runTools([{ role: 'user', content: 'How deep is Oslo?' }], [depth]);
  assert.equal(run.text, '12 m.');
  assert.deepEqual(bodyOf(requests[1])['input'], [
    { role: 'user', content: 'How deep is Oslo?' },
    thought,
    called,
    { type: 'function_call_output', call_id: 'call_1', output: 'Oslo: 12 m' },
  ]);
  const [declared] = bodyOf(requests[0])['tools'] as readonly Body[];
  assert.deepEqual([declared?.['type'], declared?.['name'], declared?.['strict']], ['function', 'depth', false]);
});

test('a conversation moves between the two interfaces', async (t) => {
  const { llm, requests } = await client(t, [
    answer([{ ...thought, encrypted_content: null }, called]),
    answer([text('ok')]),
  ]);
  const { message } = await llm.chatWithTools([{ role: 'user', content: 'x' }]);
  const result = { role: 'tool', tool_call_id: 'call_1', content: '12 m' };
  await llm.chatComplete([{ role: 'user', content: 'x' }, message, result]);
  const { id: _id, ...portable } = called;
  assert.deepEqual((bodyOf(requests[1])['input'] as unknown[])[1], portable); // reasoning that was not sent is not at the service either

  const chat = await chatServer(t, reply('ok'));
  await new LLMClient({ baseUrl: chat.baseUrl, model: 'm' }).chatComplete([
    { role: 'user', content: 'x' },
    message,
    result,
  ]);
  const { response_items: _items, ...plain } = message;
  assert.deepEqual(chat.requests[0]?.body.messages[1], plain);

  const call = { id: 'c', type: 'function', function: { name: 'depth', arguments: '{}' } };
  await llm.chatComplete([
    { role: 'assistant', content: 'Wait.', tool_calls: [call] },
    { ...result, tool_call_id: 'c' },
  ]);
  assert.deepEqual(bodyOf(requests[2])['input'], [
    { role: 'assistant', content: 'Wait.' },
    { type: 'function_call', call_id: 'c', name: 'depth', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: '12 m' },
  ]);
});

test('a reply follows a schema, is cut off, or declines, as in chat completions', async (t) => {
  const refusal = { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] };
  const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  const { llm, requests } = await client(t, [
    answer([text('{"value":["a"]}')]),
    answer([text('Hel')], incomplete),
    answer([refusal]),
    answer([], { status: 'failed', error: { message: 'overloaded' } }),
  ]);
  assert.deepEqual(await llm.ask('x', { schema: z.array(z.string()) }), ['a']);
  const { format } = bodyOf(requests[0])['text'] as { format: Body };
  assert.deepEqual([format['type'], format['name'], format['strict']], ['json_schema', 'reply', true]);
  await assert.rejects(llm.ask('x'), /cut off at the model's output limit/);
  await assert.rejects(llm.ask('x'), { name: 'RefusalError', refusal: 'No.' });
  await assert.rejects(llm.ask('x'), /overloaded/);
});

test('a streamed response has text, reasoning and usage, and one that fails or ends early is an error', async (t) => {
  const done = { type: 'response.completed', response: response([thought, text('Hello.')]) };
  const stream = [
    { type: 'response.created', response: {} },
    { type: 'response.reasoning_summary_part.added', summary_index: 0 },
    { type: 'response.reasoning_summary_text.delta', delta: 'why' },
    { type: 'response.output_text.delta', delta: 'Hel' },
    { type: 'response.output_text.delta', delta: 'lo.' },
  ];
  const failed = { type: 'response.failed', response: { error: { message: 'overloaded' } } };
  const { llm, requests } = await client(t, [events(...stream, done), events(...stream), events(failed)]);
  const seen: string[] = [];
  class Ask extends Node<object> {
    override async exec(): Promise<void> {
      assert.deepEqual(await Array.fromAsync(llm.askStream('x')), ['Hel', 'lo.']);
    }
  }
  const onEvent = (event: TraceEvent): void => {
    if (event.type === 'reasoning') seen.push(event.text);
    if (event.type === 'model') seen.push(`${event.inputTokens} ${event.cachedInputTokens} ${event.reasoningTokens}`);
  };
  await new Flow({ start: new Ask() }).run({}, { onEvent });
  assert.deepEqual(seen, ['why', '100 60 12']);
  assert.equal(bodyOf(requests[0])['stream'], true);
  assert.equal(bodyOf(requests[0])['stream_options'], undefined);
  await assert.rejects(Array.fromAsync(llm.askStream('x')), /ended before it was complete/);
  await assert.rejects(Array.fromAsync(llm.askStream('x')), /overloaded/);
});

test('models that only have /responses use it by themselves, by their name or by what the service says', async (t) => {
  const known = await client(t, [answer([text('ok')])], { model: 'gpt-5-codex', api: undefined });
  assert.equal(await known.llm.ask('x'), 'ok');
  assert.deepEqual(
    known.requests.map(({ path }) => path),
    ['/v1/responses'],
  );

  const message = 'This model is only supported in v1/responses and not in v1/chat/completions.';
  const stream = events({ type: 'response.completed', response: response([text('ok')]) });
  const either: Answer = (outgoing, request) => {
    if (request.path.endsWith('/chat/completions')) return json(404, { error: { message } })(outgoing, request);
    return (request.body.stream === true ? stream : answer([text('ok')]))(outgoing, request);
  };
  for (const ask of [
    (llm: LLMClient) => llm.ask('x'),
    async (llm: LLMClient) => (await Array.fromAsync(llm.askStream('x'))).join(''),
  ]) {
    const learned = await client(t, [either], { model: 'new-model', api: undefined });
    assert.equal(await ask(learned.llm), 'ok');
    assert.equal(await ask(learned.llm), 'ok');
    assert.deepEqual(
      learned.requests.map(({ path }) => path),
      ['/v1/chat/completions', '/v1/responses', '/v1/responses'],
    );
  }
  const together = await client(t, [either], { model: 'new-model', api: undefined });
  assert.deepEqual(await Promise.all([together.llm.ask('x'), together.llm.ask('y')]), ['ok', 'ok']);
  const explicit = await client(t, [either], { model: 'new-model', api: 'chat' });
  await assert.rejects(explicit.llm.ask('x'), /only supported in v1\/responses/);
});

test('a model that does not reason is not asked for encrypted reasoning twice', async (t) => {
  const message = 'Encrypted content is not supported with this model.';
  const picky: Answer = (outgoing, request) =>
    ('include' in request.body ? json(400, { error: { message } }) : answer([text('ok')]))(outgoing, request);
  const { llm, requests } = await client(t, [picky], { model: 'my-model' });
  assert.equal(await llm.ask('x'), 'ok');
  assert.equal(await llm.ask('x'), 'ok');
  assert.equal(requests.length, 3);
  const gpt4 = await client(t, [picky], { model: 'gpt-4o' });
  await gpt4.llm.ask('x');
  assert.equal(gpt4.requests.length, 1);
});

test('another interface than these two is refused', () => {
  assert.throws(() => new LLMClient({ api: 'completions' as 'chat' }), {
    name: 'TypeError',
    message: /option api .*'chat' or 'responses'/,
  });
});
