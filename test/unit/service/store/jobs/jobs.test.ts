import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeOf } from '../storeOf.ts';

test('the queue of all accounts has a length, and the time of its oldest job while there is one', async (t) => {
  const { store, add, finish } = storeOf(t, ['ada', 'bob']);
  const last = await add('ended', { createdAt: 500 });
  finish(last);
  assert.deepEqual(store.jobs.queued(), { count: 0, oldestAt: undefined });
  store.setState(await add('runs', { createdAt: 600 }), 'running', 700);
  await add('late', { createdAt: 2_000, account: 'bob' });
  await add('early', { createdAt: 1_000 });
  assert.deepEqual(store.jobs.queued(), { count: 2, oldestAt: 1_000 });
});

test('of the unfinished jobs, those that were submitted first are read up to a limit', async (t) => {
  const { store, add, finish } = storeOf(t);
  const [first] = [await add('1'), await add('2'), await add('3'), await add('4')];
  finish(first);
  const oldest = (limit: number): string[] => store.jobs.oldestUnfinished(limit).map(({ id }) => id);
  assert.deepEqual([oldest(0), oldest(2), oldest(9)], [[], ['2', '3'], ['2', '3', '4']]);
  assert.equal(store.unfinished.count, 3);
});
