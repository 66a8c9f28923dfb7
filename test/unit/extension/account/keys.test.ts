import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redactor } from '../../../../src/core/redact.ts';
import { type KeyKind, Keys } from '../../../../src/extension/account/keys.ts';

type Secrets = ConstructorParameters<typeof Keys>[0];

function keysIn(stored: Map<string, string>, kind: KeyKind, redactor = new Redactor()): Keys {
  const secrets: Pick<Secrets, 'get' | 'store' | 'delete'> = {
    get: async (name) => stored.get(name),
    store: async (name, value) => void stored.set(name, value),
    delete: async (name) => void stored.delete(name),
  };
  return new Keys(secrets as Secrets, redactor, kind);
}

test('a key is returned only for the origin that it was entered for', async () => {
  const keys = keysIn(new Map(), 'modelKey');
  await keys.set('https://models.example.org/v1', 'the-secret-key');
  assert.equal(await keys.get('https://models.example.org/other/v1'), 'the-secret-key');
  for (const other of ['https://models.example.org:444/v1', 'http://models.example.org/v1', 'https://example.org']) {
    assert.equal(await keys.get(other), undefined, other);
  }
});

test('a key of a job service is no key of a model at the same origin, nor the other way', async () => {
  const stored = new Map<string, string>();
  await keysIn(stored, 'key').set('https://gpu.example.org', 'for-jobs');
  assert.equal(await keysIn(stored, 'modelKey').get('https://gpu.example.org'), undefined);
  await keysIn(stored, 'modelKey').set('https://gpu.example.org', 'for-models');
  assert.equal(await keysIn(stored, 'key').get('https://gpu.example.org'), 'for-jobs');
});

test('a key that was read or entered does not reach the log', async () => {
  const redactor = new Redactor();
  const stored = new Map<string, string>();
  await keysIn(stored, 'modelKey', redactor).set('https://models.example.org', 'the-secret-key');
  assert.doesNotMatch(redactor.redact('sent the-secret-key'), /secret/);
  const anew = new Redactor();
  await keysIn(stored, 'modelKey', anew).get('https://models.example.org');
  assert.doesNotMatch(anew.redact('sent the-secret-key'), /secret/);
});

test('signing out deletes that key and no other', async () => {
  const stored = new Map<string, string>();
  const keys = keysIn(stored, 'key');
  await keys.set('https://gpu.example.org', 'for-this');
  await keys.set('https://other.example.org', 'for-that');
  await keys.delete('https://gpu.example.org/v1');
  assert.equal(await keys.get('https://gpu.example.org'), undefined);
  assert.deepEqual([...stored.values()], ['for-that']);
});
