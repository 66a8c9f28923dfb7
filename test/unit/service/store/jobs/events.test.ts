import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceLine, stateEvent } from '../../../../../src/service/store/jobs/eventTable.ts';
import { storeOf } from '../storeOf.ts';

test('a state has its time and, where there is one, its reason; a line of the service says whose it is', () => {
  const at = '2026-01-01T00:00:00.000Z';
  assert.deepEqual(stateEvent('running', Date.parse(at)), { type: 'state', data: { state: 'running', at } });
  assert.deepEqual(stateEvent('queued', Date.parse(at), 'full').data, { state: 'queued', at, reason: 'full' });
  assert.deepEqual(serviceLine('Removed.'), { stream: 'stderr', text: 'farwharf: Removed.\n' });
});

test('the last events before one are read in their order, as many as reach the length, and at least one', async (t) => {
  const { store, add } = storeOf(t);
  const { id, number } = await add('a');
  const data = { stream: 'stdout', text: 'a line\n' } as const;
  await store.appendOutput(
    id,
    Array.from({ length: 4 }, () => ({ type: 'log', data })),
    0,
  );
  const { length } = JSON.stringify(data);
  const before = (last: number, enough: number) => store.events.pageBefore(number, last, enough).map((each) => each.id);
  assert.deepEqual(
    [before(6, 0), before(6, length), before(6, length + 1), before(5, 1e6)],
    [[5], [5], [4, 5], [1, 2, 3, 4]],
  );
  assert.deepEqual([before(1, 1e6), store.events.pageBefore(number + 1, 9, 1e6)], [[], []]);
});

test('output of a job that does not exist is stored nowhere', async (t) => {
  const { store, add } = storeOf(t);
  const { number } = await add('a');
  await store.appendOutput('none', [{ type: 'log', data: { stream: 'stdout', text: 'a line\n' } }], 7);
  assert.deepEqual([store.events.last(number), store.events.last(0)], [1, 0]);
});
