import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveEndpoint } from '../../../../src/agents/llm/providers.ts';
import { placeOf, readModelChoice, requireSafeForKey } from '../../../../src/extension/agents/modelChoice.ts';

const NOTHING = { provider: '', name: '', baseUrl: '' };

test('without settings no model is chosen', () => {
  assert.deepEqual(readModelChoice(NOTHING), { type: 'none' });
});

test('a provider has its usual model and address', () => {
  const choice = readModelChoice({ ...NOTHING, provider: 'ollama', name: 'qwen3' });
  assert.ok(choice.type === 'endpoint');
  assert.deepEqual([choice.endpoint.model, choice.endpoint.needsKey], ['qwen3', false]);
  assert.equal(placeOf(choice.endpoint), 'this machine (127.0.0.1:11434)');
});

test('an address decides what is behind it: the key of a provider never goes elsewhere', () => {
  const choice = readModelChoice({ provider: 'openai', name: 'gpt-4o', baseUrl: 'https://models.example.org/v1' });
  assert.ok(choice.type === 'endpoint');
  const { provider, keyVariable, needsKey } = choice.endpoint;
  assert.deepEqual([provider, keyVariable, needsKey], ['custom', undefined, false]);
});

test('the models of the editor are named by their id', () => {
  assert.deepEqual(readModelChoice({ ...NOTHING, provider: 'editor', name: 'x-1' }), { type: 'editor', id: 'x-1' });
});

test('a key goes over https, or stays on this machine', () => {
  const check = (baseUrl: string): void => requireSafeForKey(resolveEndpoint({ baseUrl }));
  check('https://models.example.org/v1');
  check('http://localhost:1234/v1');
  assert.throws(() => check('http://models.example.org/v1'), /unencrypted/);
  assert.throws(() => check('http://api.openai.com/v1'), /unencrypted/);
});

test('an address in a cloud is used as that of the cloud', () => {
  const choice = readModelChoice({ ...NOTHING, name: 'my-model', baseUrl: 'https://my-resource.openai.azure.com' });
  assert.ok(choice.type === 'endpoint');
  const { provider, baseUrl, keyHeader, keyVariable } = choice.endpoint;
  assert.deepEqual([provider, keyHeader, keyVariable], ['azure', 'api-key', 'AZURE_OPENAI_API_KEY']);
  assert.equal(baseUrl, 'https://my-resource.openai.azure.com/openai/v1');
});
