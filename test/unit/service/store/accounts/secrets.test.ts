import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeOf } from '../storeOf.ts';

test('secrets belong to an account, are listed by name without values, replaced, and removed once', (t) => {
  const { secrets } = storeOf(t, ['ada', 'bob']).store;
  const sealed = (...bytes: number[]) => Uint8Array.from(bytes);
  secrets.set('ada', 'TOKEN', { sealed: sealed(1), changedAt: 10, redactsResults: true });
  secrets.set('ada', 'KEY', { sealed: sealed(2), changedAt: 20, redactsResults: true });
  secrets.set('bob', 'TOKEN', { sealed: sealed(3), changedAt: 30 });
  secrets.set('ada', 'TOKEN', { sealed: sealed(4, 5), changedAt: 40 });
  assert.deepEqual(secrets.list('ada'), [
    { name: 'KEY', changedAt: 20, redactsResults: true },
    { name: 'TOKEN', changedAt: 40, redactsResults: true },
  ]);
  secrets.set('ada', 'KEY', { sealed: sealed(2), changedAt: 50, redactsResults: false });
  assert.deepEqual(
    [...secrets.list('ada'), ...secrets.list('bob')].map(({ redactsResults }) => redactsResults),
    [false, true, false],
  );
  assert.deepEqual([...(secrets.get('ada', 'TOKEN') ?? [])], [4, 5]);
  assert.deepEqual([...(secrets.get('bob', 'TOKEN') ?? [])], [3]);
  assert.deepEqual([secrets.get('bob', 'KEY'), secrets.get('nobody', 'KEY')], [undefined, undefined]);
  assert.deepEqual([secrets.remove('ada', 'TOKEN'), secrets.remove('ada', 'TOKEN')], [true, false]);
  assert.deepEqual([secrets.list('ada').length, secrets.list('bob').length], [1, 1]);
});
