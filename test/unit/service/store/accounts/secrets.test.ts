import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeOf } from '../storeOf.ts';

test('secrets belong to an account, are listed by name without values, replaced, and removed once', (t) => {
  const { secrets } = storeOf(t, ['ada', 'bob']).store;
  secrets.set('ada', 'TOKEN', Uint8Array.of(1), 10);
  secrets.set('ada', 'KEY', Uint8Array.of(2), 20);
  secrets.set('bob', 'TOKEN', Uint8Array.of(3), 30);
  secrets.set('ada', 'TOKEN', Uint8Array.of(4, 5), 40);
  assert.deepEqual(secrets.list('ada'), [
    { name: 'KEY', changedAt: 20 },
    { name: 'TOKEN', changedAt: 40 },
  ]);
  assert.deepEqual([...(secrets.get('ada', 'TOKEN') ?? [])], [4, 5]);
  assert.deepEqual([...(secrets.get('bob', 'TOKEN') ?? [])], [3]);
  assert.deepEqual([secrets.get('bob', 'KEY'), secrets.get('nobody', 'KEY')], [undefined, undefined]);
  assert.deepEqual([secrets.remove('ada', 'TOKEN'), secrets.remove('ada', 'TOKEN')], [true, false]);
  assert.deepEqual([secrets.list('ada').length, secrets.list('bob').length], [1, 1]);
});
