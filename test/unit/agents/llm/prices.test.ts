import assert from 'node:assert/strict';
import { test } from 'node:test';
import { embeddingPrice, estimateCallCost } from '../../../../src/agents/llm/prices.ts';
import { resolveEndpoint } from '../../../../src/agents/llm/providers.ts';

const cost = (options: Parameters<typeof resolveEndpoint>[0], input = 1_000_000, output = 1_000_000) =>
  estimateCallCost(resolveEndpoint(options), { input, cachedInput: undefined, output });

test('a model and its dated snapshots have the list price', () => {
  assert.equal(cost({ model: 'gpt-4o-mini' }), 0.75);
  assert.equal(cost({ model: 'gpt-4o-2024-08-06' }), 12.5);
  assert.equal(cost({ model: 'claude-haiku-4-5-20251001' }), 6);
  assert.equal(cost({ model: 'claude-haiku-4-5-latest' }), 6);
});

test('cached tokens of a model have the list price', () => {
  const tokens = { input: 1_000_000, cachedInput: 600_000, output: 0 };
  assert.equal(estimateCallCost(resolveEndpoint({ model: 'gpt-5' }), tokens), 0.4 * 1.25 + 0.6 * 0.125);
});

test('a name that only begins like a known one has no price, nor has a model that nobody knows', () => {
  for (const model of ['gpt-5-pro', 'gpt-5.4', 'gpt-4o-audio-preview', 'claude-sonnet-4-9', 'toString', 'my-model']) {
    assert.equal(cost({ model }), undefined, model);
  }
});

test('the price of a model holds at its own service alone', () => {
  assert.equal(cost({ provider: 'openai', model: 'gpt-4o', baseUrl: 'http://127.0.0.1:8080/v1' }), undefined);
  assert.equal(cost({ model: 'gpt-4o', baseUrl: 'https://example.com/v1' }), undefined);
  assert.equal(cost({ provider: 'openrouter', model: 'gpt-4o' }), undefined);
  assert.equal(cost({ provider: 'openai', model: 'gpt-4o', baseUrl: 'https://api.openai.com/v1/' }), 12.5);
});

test('where long prompts cost more, nothing is said of them', () => {
  assert.equal(cost({ model: 'claude-sonnet-4-5' }, 200_000, 0), 0.6);
  assert.equal(cost({ model: 'claude-sonnet-4-5' }, 200_001, 0), undefined);
});

test('embedding has the list price at its own service alone', () => {
  const endpoint = { provider: 'openai', model: 'text-embedding-3-small' };
  assert.equal(embeddingPrice(resolveEndpoint(endpoint)), 0.02);
  assert.equal(embeddingPrice(resolveEndpoint({ ...endpoint, baseUrl: 'http://127.0.0.1:1/v1' })), undefined);
  assert.equal(embeddingPrice(resolveEndpoint({ ...endpoint, model: 'other' })), undefined);
});
