import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { Flow, LLMClient, Node, tool, type TraceEvent } from '../../../../src/agents/index.ts';
import { type Answer, chatServer, delta, json, reply, streamed, toolCalls } from './llmServer.ts';

const noop = tool({ name: 'noop', description: '', input: z.object({}), run: () => 'done' });

/** DeepSeek's rule: status 400 if a message with calls of tools has no `reasoning_content`. */
const strictAboutReasoning =
  (answer: Answer): Answer =>
  (response, request) => {
    const isMissing = request.body.messages.some(
      (message) => 'tool_calls' in message && !('reasoning_content' in message),
    );
    if (!isMissing) return answer(response, request);
    const error = { message: 'The `reasoning_content` in the thinking mode must be passed back to the API.' };
    return json(400, { error })(response, request);
  };

test('the reasoning of a reply is readable, and goes back with its message', async (t) => {
  const call: Answer = reply(null, {
    finish_reason: 'tool_calls',
    message: {
      reasoning_content: 'I need the tool.',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'noop', arguments: '{}' } }],
    },
  });
  const { baseUrl, requests } = await chatServer(t, call, strictAboutReasoning(reply('ok')));
  const llm = new LLMClient({ provider: 'deepseek', baseUrl, apiKey: 'sk-1' });
  const run = await llm.runTools([{ role: 'user', content: 'x' }], [noop]);
  assert.equal(run.text, 'ok');
  assert.deepEqual(requests[1]?.body.messages[1], {
    role: 'assistant',
    content: null,
    reasoning_content: 'I need the tool.',
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'noop', arguments: '{}' } }],
  });
});

test('a service that requires reasoning gets it empty in messages of other services', async (t) => {
  const { baseUrl } = await chatServer(t, toolCalls(['noop', '{}']), strictAboutReasoning(reply('ok')));
  const llm = new LLMClient({ provider: 'deepseek', baseUrl, apiKey: 'sk-1' });
  assert.equal((await llm.runTools([{ role: 'user', content: 'x' }], [noop])).text, 'ok');
});

test('each service gets back the fields with reasoning that it takes, and no others', async (t) => {
  const { baseUrl, requests } = await chatServer(t, reply('ok'));
  const fields = { reasoning_content: 'a', reasoning: 'b', reasoning_details: [{ type: 'reasoning.text', text: 'c' }] };
  const cases = {
    openai: [],
    azure: [],
    groq: [],
    mistral: [],
    gemini: [],
    anthropic: [],
    deepseek: ['reasoning_content'],
    openrouter: ['reasoning', 'reasoning_details'],
    ollama: ['reasoning'],
    llamacpp: ['reasoning_content'],
    custom: ['reasoning_content', 'reasoning', 'reasoning_details'],
  };
  for (const [provider, accepted] of Object.entries(cases)) {
    const llm = new LLMClient({ provider, baseUrl, apiKey: 'sk-1', model: 'm' });
    await llm.chatComplete([
      { role: 'user', content: 'x' },
      { role: 'assistant', content: 'y', ...fields },
    ]);
    const sent = Object.keys(requests.at(-1)?.body.messages[1] ?? {}).filter((key) => key.startsWith('reasoning'));
    assert.deepEqual(sent, accepted, provider);
  }
});

test('reasoning is read in every form that services write', async (t) => {
  const thinking = [{ type: 'thinking', thinking: 'why' }];
  const messages: readonly object[] = [
    { content: 'ok', reasoning_content: 'why' },
    { content: 'ok', reasoning: 'why' },
    { content: 'ok', reasoning: 'why', reasoning_details: [{ type: 'reasoning.text', text: 'why' }] },
    {
      content: 'ok',
      reasoning_details: [
        { type: 'reasoning.summary', summary: 'w' },
        { type: 'reasoning.text', text: 'hy' },
      ],
    },
    { content: 'ok', thinking_blocks: thinking },
    {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'why' }] },
        { type: 'text', text: 'ok' },
      ],
    },
    { content: '\n<think>why</think>\n\nok' },
  ];
  const { baseUrl } = await chatServer(t, ...messages.map((message) => reply('', { message })), reply('ok'));
  const llm = new LLMClient({ baseUrl, model: 'm' });
  for (const message of messages) {
    const { content, reasoning, message: sent } = await llm.chatWithTools([{ role: 'user', content: 'x' }]);
    assert.deepEqual([content, reasoning], ['ok', 'why'], JSON.stringify(message));
    assert.deepEqual(sent, { role: 'assistant', ...message });
  }
  const plain = await llm.chatWithTools([{ role: 'user', content: 'x' }]);
  assert.ok(!('reasoning' in plain));
});

async function streamEvents(llm: LLMClient): Promise<{ text: string; events: string[] }> {
  const events: string[] = [];
  let text = '';
  class Ask extends Node<object> {
    override async exec(): Promise<void> {
      for await (const piece of llm.askStream('x')) text += piece;
    }
  }
  const onEvent = (event: TraceEvent): void => {
    if (event.type === 'token' || event.type === 'reasoning') events.push(`${event.type}: ${event.text}`);
  };
  await new Flow({ start: new Ask() }).run({}, { onEvent });
  return { text, events };
}

test('streamed reasoning is an event of its own, and no part of the text', async (t) => {
  const piece = (fields: object): string =>
    JSON.stringify({ choices: [{ index: 0, delta: fields, finish_reason: null }] });
  const fields = streamed([
    piece({ reasoning_content: 'why ' }),
    piece({ reasoning: 'so' }),
    delta('ok', 'stop'),
    '[DONE]',
  ]);
  const tags = streamed(
    ['<thi', 'nk>wh', 'y</th', 'ink>', '\n', 'ok'].map((text) => delta(text)).concat(delta('', 'stop'), '[DONE]'),
  );
  const like = streamed([delta('<th'), delta('e end', 'stop'), '[DONE]']);
  const { baseUrl } = await chatServer(t, fields, tags, like);
  const llm = new LLMClient({ baseUrl, model: 'm' });
  assert.deepEqual(await streamEvents(llm), { text: 'ok', events: ['reasoning: why ', 'reasoning: so', 'token: ok'] });
  assert.deepEqual(await streamEvents(llm), { text: 'ok', events: ['reasoning: wh', 'reasoning: y', 'token: ok'] });
  assert.deepEqual(await streamEvents(llm), { text: '<the end', events: ['token: <the end'] });
});

test('the limit of length has the name that the model takes, by the table or by what the service says', async (t) => {
  const { baseUrl, requests } = await chatServer(t, reply('ok'));
  const sent = async (options: object, params: object): Promise<object> => {
    await new LLMClient({ baseUrl, apiKey: 'sk-1', ...options }).ask('x', { params: { ...params } });
    const { model: _model, messages: _messages, ...rest } = requests.at(-1)?.body ?? {};
    return rest;
  };
  assert.deepEqual(await sent({ provider: 'openai', model: 'gpt-5-mini' }, { max_tokens: 9 }), {
    max_completion_tokens: 9,
  });
  assert.deepEqual(await sent({ provider: 'openai', model: 'o3' }, { max_tokens: 9 }), { max_completion_tokens: 9 });
  assert.deepEqual(await sent({ provider: 'openai', model: 'gpt-4o' }, { max_tokens: 9 }), { max_tokens: 9 });
  assert.deepEqual(await sent({ provider: 'mistral' }, { max_completion_tokens: 9 }), { max_tokens: 9 });
  assert.deepEqual(await sent({ model: 'm' }, { max_tokens: 9 }), { max_tokens: 9 });

  const message =
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
  const refusing: Answer = (response, request) =>
    ('max_tokens' in request.body ? json(400, { error: { message } }) : reply('ok'))(response, request);
  const azure = await chatServer(t, refusing);
  const llm = new LLMClient({
    provider: 'azure',
    model: 'my-deployment',
    baseUrl: azure.baseUrl,
    apiKey: 'k',
    params: { max_tokens: 5 },
  });
  assert.equal(await llm.ask('x'), 'ok');
  assert.equal(await llm.ask('x'), 'ok');
  assert.equal(azure.requests.length, 3);
});
