import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partialJson } from '../../../../src/agents/schema/partialJson.ts';

test('every beginning of a JSON text gives a beginning of its value', () => {
  const value = { a: 'quote " slash \\ line\n', b: [1, -2.5e3, true, null, { c: '\u00e9\ud83d\ude00' }], d: {}, e: [] };
  const text = JSON.stringify(value).replace('\u00e9', '\\u00e9');
  for (let length = 1; length <= text.length; length += 1) {
    const part = partialJson(text.slice(0, length));
    assert.ok(typeof part === 'object' && part !== null, text.slice(0, length));
    if ('a' in part) assert.ok(value.a.startsWith(String(part.a)));
  }
  assert.deepEqual(partialJson(text), value);
  assert.equal(partialJson(''), undefined);
  assert.equal(partialJson('['.repeat(100_000)), undefined);
  for (const slashes of [1, 2, 99, 100]) {
    const part = partialJson(`{"a":"${'\\'.repeat(slashes)}`);
    assert.deepEqual(part, { a: '\\'.repeat(Math.floor(slashes / 2)) });
  }
});
