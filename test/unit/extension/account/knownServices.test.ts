import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownServices } from '../../../../src/extension/account/knownServices.ts';

const [A, B] = ['https://a.example.org', 'https://b.example.org'];

test('the selected service can be chosen again, also if it was never used here', () => {
  assert.deepEqual(knownServices([], A), [A]);
  assert.deepEqual(knownServices([B], A), [A, B]);
  assert.deepEqual(knownServices([B, A], A), [B, A]);
});

test('this machine and machines over SSH are listed apart from services', () => {
  for (const current of ['local', 'ssh://gpu-box', undefined]) assert.deepEqual(knownServices([B], current), [B]);
});
