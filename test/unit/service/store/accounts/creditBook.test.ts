import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeOf } from '../storeOf.ts';

test('the book of an account has what was granted, taken back and paid, newest first, and no holds', async (t) => {
  const { store, add, finish } = storeOf(t, ['ada', 'bob']);
  store.grant('ada', { reference: 'back', amount: -5, at: 10, note: 'By mistake' });
  finish(await add('paid', { hold: 100, createdAt: 20 }), { charged: 40, finishedAt: 30 });
  finish(await add('free', { hold: 100, createdAt: 40 }), { charged: 0, finishedAt: 50 });
  await add('runs', { hold: 100, createdAt: 60 });
  const [free, paid, back, start, ...others] = store.creditBook.entries('ada', 9);
  assert.deepEqual(
    [free, paid, back],
    [
      { at: 50, kind: 'job', amount: 0, reference: 'free', note: null },
      { at: 30, kind: 'job', amount: -40, reference: 'paid', note: null },
      { at: 10, kind: 'grant', amount: -5, reference: 'back', note: 'By mistake' },
    ],
  );
  assert.deepEqual([start?.reference, others], ['start', []]);
  assert.deepEqual(store.creditBook.entries('ada', 2), [free, paid]);
  assert.equal(store.creditBook.entries('bob', 9).length, 1);
  assert.deepEqual(store.creditBook.entries('nobody', 9), []);
});
