import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { LLMClient, type LLMClientOptions } from '../../../../src/agents/index.ts';
import { chatServer, reply } from './llmServer.ts';

const call = { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: {} }] };
const messages = [
  { role: 'system', content: 'A long prompt.' },
  { role: 'user', content: 'Read it.' },
  call,
  { role: 'tool', tool_call_id: 'c', content: 'A long page.' },
  { role: 'tool', tool_call_id: 'd', content: '' },
];
const MARK = { cache_control: { type: 'ephemeral' } };

async function sent(t: TestContext, options: LLMClientOptions, conversation: object[] = messages): Promise<unknown> {
  const { baseUrl, requests } = await chatServer(t, reply('ok'));
  await new LLMClient({ baseUrl, apiKey: 'k', ...options }).chatWithTools(conversation as typeof messages);
  return requests[0]?.body.messages;
}

test('with promptCache, services that need marks get them after the system messages and at the end', async (t) => {
  const marked = [
    { role: 'system', content: [{ type: 'text', text: 'A long prompt.', ...MARK }] },
    { role: 'user', content: 'Read it.' },
    call,
    { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'A long page.', ...MARK }] },
    { role: 'tool', tool_call_id: 'd', content: '' },
  ];
  const claude = 'anthropic/claude-sonnet-4.5';
  assert.deepEqual(await sent(t, { provider: 'openrouter', model: claude, promptCache: true }), marked);
  assert.deepEqual(await sent(t, { model: 'claude-sonnet-4-5', provider: 'vllm', promptCache: true }), messages);
  assert.deepEqual(await sent(t, { model: claude, promptCache: true }), marked); // a proxy
  const parts = [
    { type: 'text', text: 'Look.' },
    { type: 'image_url', image_url: { url: 'data:,' } },
  ];
  assert.deepEqual(await sent(t, { model: claude, promptCache: true }, [{ role: 'user', content: parts }]), [
    { role: 'user', content: [{ ...parts[0], ...MARK }, parts[1]] },
  ]);
});

test('nothing is marked without promptCache, and where services store by themselves or not at all', async (t) => {
  assert.deepEqual(await sent(t, { provider: 'openrouter', model: 'anthropic/claude-sonnet-4.5' }), messages);
  assert.deepEqual(await sent(t, { provider: 'openrouter', model: 'openai/gpt-5', promptCache: true }), messages);
  assert.deepEqual(await sent(t, { provider: 'openai', model: 'gpt-5', promptCache: true }), messages);
  assert.deepEqual(await sent(t, { provider: 'anthropic', promptCache: true }), messages);
});
