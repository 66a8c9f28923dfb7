import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobQuery } from '../../../../../src/service/store/jobs/jobSearch.ts';
import { storeOf } from '../storeOf.ts';

test('jobs of all accounts are found by what is given, newest first, page by page', async (t) => {
  const { store, add, finish } = storeOf(t, ['ada', 'bob']);
  const { jobSearch } = store;
  assert.deepEqual(await jobSearch.find({}, { limit: 9 }), []);
  await add('a');
  await add('b', { account: 'bob', project: 'p', createdAt: 2_000 });
  await add('c', { machineClass: 'gpu', createdAt: 2_001 });
  finish(await add('d', { project: 'p', createdAt: 3_000 }));
  const find = async (filter: JobQuery, limit = 9, before?: string): Promise<string> => {
    const found = await jobSearch.find(filter, {
      limit,
      before: before === undefined ? undefined : store.jobs.get(before),
    });
    return found.map(({ id }) => id).join('');
  };
  assert.equal(await find({}), 'dcba');
  assert.equal(await find({ account: 'ada' }), 'dca');
  assert.equal(await find({ account: 'nobody' }), '');
  assert.equal(await find({ state: 'succeeded' }), 'd');
  assert.equal(await find({ state: 'queued', project: 'p' }), 'b');
  assert.equal(await find({ machineClass: 'gpu' }), 'c');
  assert.equal(await find({ since: 2_001 }), 'dc');
  assert.equal(await find({}, 2), 'dc');
  assert.equal(await find({}, 2, 'c'), 'ba');
  assert.equal(await find({}, 2, 'a'), '');
  assert.equal(await find({ account: 'ada' }, 1, 'd'), 'c');
});

test('a job is found however many came after it', async (t) => {
  const { store, add } = storeOf(t, ['ada', 'bob']);
  await add('first', { account: 'bob' });
  const others = Array.from({ length: 5_100 }, (_, index) => add(`job-${index}`));
  await Promise.all(others);
  await add('last', { account: 'bob' });
  const found = await store.jobSearch.find({ account: 'bob' }, { limit: 9 });
  assert.deepEqual(
    found.map(({ id }) => id),
    ['last', 'first'],
  );
  assert.equal((await store.jobSearch.find({}, { limit: 6_000 })).length, 5_102);
});
