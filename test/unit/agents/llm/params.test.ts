import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LLMClient, Node, RefusalError, type TraceEvent } from '../../../../src/agents/index.ts';
import { chatServer, delta, reply, streamed } from './llmServer.ts';

test('params of the client are sent as they are, and those of a call override them', async (t) => {
  const { baseUrl, requests } = await chatServer(t, reply('Fine.'));
  const llm = new LLMClient({ baseUrl, model: 'm', params: { temperature: 0, seed: 7 } });
  await llm.ask('x', { params: { seed: 8, stop: ['END'] } });
  await llm.chatComplete([{ role: 'user', content: 'x' }]);
  const [first, second] = requests.map(({ body }) => body as unknown);
  const messages = [{ role: 'user', content: 'x' }];
  assert.deepEqual(first, { model: 'm', messages, temperature: 0, seed: 8, stop: ['END'] });
  assert.deepEqual(second, { model: 'm', messages, temperature: 0, seed: 7 });
});

test('params are part of a streamed request, and cannot replace its messages', async (t) => {
  const { baseUrl, requests } = await chatServer(t, streamed([delta('Hi'), '[DONE]']));
  const llm = new LLMClient({ baseUrl, model: 'm', params: { reasoning_effort: 'low', messages: [], stream: false } });
  assert.deepEqual(await Array.fromAsync(llm.askStream('x')), ['Hi']);
  assert.deepEqual(requests[0]?.body, {
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
    reasoning_effort: 'low',
    stream: true,
    stream_options: { include_usage: true },
  });
});

test('images are sent as content parts', async (t) => {
  const { baseUrl, requests } = await chatServer(t, reply('A wharf.'));
  const content = [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
  ] as const;
  await new LLMClient({ baseUrl, model: 'm' }).chatComplete([{ role: 'user', content }]);
  assert.deepEqual(requests[0]?.body.messages, [{ role: 'user', content }]);
});

test('a whole reply has its usage, and the message that continues the conversation', async (t) => {
  const { baseUrl } = await chatServer(t, reply('Fine.'));
  const llm = new LLMClient({ baseUrl, model: 'm', price: { input: 1, output: 2 } });
  const { content, usage, message } = await llm.chatWithTools([{ role: 'user', content: 'x' }]);
  assert.equal(content, 'Fine.');
  assert.deepEqual(usage, { inputTokens: 100, outputTokens: 20, cost: (100 + 40) / 1_000_000 });
  assert.deepEqual(message, { role: 'assistant', content: 'Fine.' });
});

test('a refusal is an error of its own, streamed or not', async (t) => {
  const refused = reply(null, { message: { refusal: 'I cannot help with that.' } });
  const { baseUrl } = await chatServer(t, refused);
  const isRefusal = (error: unknown): boolean =>
    error instanceof RefusalError && error.refusal === 'I cannot help with that.' && /custom \(m\)/.test(error.message);
  await assert.rejects(new LLMClient({ baseUrl, model: 'm' }).ask('x'), isRefusal);
  const pieces = ['I cannot ', 'help with that.'].map((refusal) =>
    JSON.stringify({ choices: [{ index: 0, delta: { refusal }, finish_reason: null }] }),
  );
  const { baseUrl: streamUrl } = await chatServer(t, streamed([...pieces, '[DONE]']));
  await assert.rejects(Array.fromAsync(new LLMClient({ baseUrl: streamUrl, model: 'm' }).askStream('x')), isRefusal);
});

test('an option of the wrong type is a TypeError that names it', async () => {
  const bad = (options: unknown): LLMClient => new LLMClient(options as object);
  assert.throws(() => bad('gpt-4o'), { name: 'TypeError', message: /new LLMClient takes its options as an object/ });
  assert.throws(() => bad({ model: 4 }), { name: 'TypeError', message: /option model of new LLMClient/ });
  assert.throws(() => bad({ params: [] }), { name: 'TypeError', message: /option params of new LLMClient/ });
  const llm = new LLMClient();
  await assert.rejects(llm.ask('x', { retries: '3' } as object), {
    name: 'TypeError',
    message: /option retries of ask/,
  });
});

test('the pieces of a streamed reply reach onEvent as they arrive', async (t) => {
  const { baseUrl } = await chatServer(t, streamed([delta('Hel'), delta('lo'), '[DONE]']));
  const llm = new LLMClient({ baseUrl, model: 'm' });
  class Ask extends Node<{ text: string }, unknown, string> {
    override async exec(): Promise<string> {
      return (await Array.fromAsync(llm.askStream('x'))).join('');
    }
    override post(shared: { text: string }, _prepRes: unknown, text: string): void {
      shared.text = text;
    }
  }
  const events: TraceEvent[] = [];
  const shared = { text: '' };
  await new Ask().run(shared, { onEvent: (event) => void events.push(event) });
  assert.equal(shared.text, 'Hello');
  const tokens = events.flatMap((event) =>
    event.type === 'token' ? [`${event.node} ${event.visit} ${event.text}`] : [],
  );
  assert.deepEqual(tokens, ['Ask 1 Hel', 'Ask 1 lo']);
});
