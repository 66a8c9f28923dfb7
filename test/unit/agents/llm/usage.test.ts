import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BudgetError, Flow, LLMClient, Node, type TraceEvent } from '../../../../src/agents/index.ts';
import { type Answer, chatServer, json } from './llmServer.ts';

const counted = (usage: object): Answer =>
  json(200, { choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }], usage });

test('cached tokens and tokens of reasoning are counted as each service reports them', async (t) => {
  const cases: readonly (readonly [usage: object, expected: object])[] = [
    [
      {
        prompt_tokens: 100,
        completion_tokens: 20,
        prompt_tokens_details: { cached_tokens: 80 },
        completion_tokens_details: { reasoning_tokens: 15 },
      },
      { inputTokens: 100, cachedInputTokens: 80, outputTokens: 20, reasoningTokens: 15 },
    ],
    [
      { prompt_tokens: 100, completion_tokens: 20, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 }, // DeepSeek
      { inputTokens: 100, cachedInputTokens: 64, outputTokens: 20 },
    ],
    [
      {
        prompt_tokens: 100,
        completion_tokens: 20,
        total_tokens: 170,
        completion_tokens_details: { reasoning_tokens: 50 },
      }, // xAI
      { inputTokens: 100, outputTokens: 70, reasoningTokens: 50 },
    ],
    [
      {
        prompt_tokens: 100,
        completion_tokens: 20,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30, audio_tokens: 0 },
      }, // OpenRouter
      { inputTokens: 100, cachedInputTokens: 60, cacheWriteTokens: 30, outputTokens: 20 },
    ],
    [
      { prompt_tokens: 100, completion_tokens: 20, cache_creation_input_tokens: 30, cache_read_input_tokens: 60 }, // LiteLLM
      { inputTokens: 100, cachedInputTokens: 60, cacheWriteTokens: 30, outputTokens: 20 },
    ],
    [
      {
        prompt_tokens: 100,
        completion_tokens: 20,
        prompt_tokens_details: { audio_tokens: 40 },
        completion_tokens_details: { audio_tokens: 5 },
      },
      { inputTokens: 100, audioInputTokens: 40, audioOutputTokens: 5, outputTokens: 20 },
    ],
    [
      { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
      { inputTokens: 100, outputTokens: 20 },
    ],
  ];
  const { baseUrl } = await chatServer(t, ...cases.map(([usage]) => counted(usage)));
  const llm = new LLMClient({ baseUrl, model: 'm' });
  for (const [, expected] of cases) {
    const { usage } = await llm.chatWithTools([{ role: 'user', content: 'x' }]);
    assert.deepEqual(usage, { ...expected, cost: undefined });
  }
});

test('cached tokens have their own price in the cost, the budget and the trace', async (t) => {
  const { baseUrl } = await chatServer(
    t,
    counted({
      prompt_tokens: 1_000_000,
      completion_tokens: 100_000,
      prompt_tokens_details: { cached_tokens: 800_000 },
      completion_tokens_details: { reasoning_tokens: 9 },
    }),
  );
  const price = { input: 10, output: 20, cachedInput: 1 };
  const llm = new LLMClient({ baseUrl, model: 'm', price });
  class Ask extends Node<object> {
    override async exec(): Promise<void> {
      assert.equal((await llm.chatWithTools([{ role: 'user', content: 'x' }])).usage.cost, 4.8);
      await llm.ask('x');
    }
  }
  const calls: TraceEvent[] = [];
  const run = new Flow({ start: new Ask() }).run(
    {},
    { maxCost: 4, onEvent: (event) => void (event.type === 'model' && calls.push(event)) },
  );
  await assert.rejects(run, (error: BudgetError) => error.spent.cost === 4.8);
  assert.deepEqual(
    calls.map(
      (event) => event.type === 'model' && [event.cachedInputTokens, event.reasoningTokens, event.estimatedCost],
    ),
    [[800_000, 9, 4.8]],
  );
  const full = new LLMClient({ baseUrl, model: 'm', price: { input: 10, output: 20 } });
  assert.equal((await full.chatWithTools([{ role: 'user', content: 'x' }])).usage.cost, 12);
});

test('stored tokens and sound have their own price, each token once', async (t) => {
  const usage = {
    prompt_tokens: 1_000_000,
    completion_tokens: 500_000,
    prompt_tokens_details: { cached_tokens: 500_000, cache_write_tokens: 200_000, audio_tokens: 900_000 },
    completion_tokens_details: { audio_tokens: 100_000 },
  };
  const { baseUrl } = await chatServer(t, counted(usage));
  const cost = async (price: object): Promise<number | undefined> =>
    (
      await new LLMClient({ baseUrl, model: 'm', price: price as never }).chatWithTools([
        { role: 'user', content: 'x' },
      ])
    ).usage.cost;
  assert.equal(await cost({ input: 10, output: 20 }), 20);
  const prices = { cachedInput: 1, cacheWrite: 20, audioInput: 100, audioOutput: 200 };
  assert.equal(await cost({ input: 10, output: 20, ...prices }), 0.5 + 4 + 30 + 20 + 8);
});
