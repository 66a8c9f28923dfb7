import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeOf } from '../storeOf.ts';

test('a drain lasts until it is cleared, with the words of the operator', (t) => {
  const { drain, retention } = storeOf(t).store;
  assert.equal(drain.get(), undefined);
  drain.set({ since: 5, reason: null });
  assert.deepEqual(drain.get(), { since: 5, reason: null });
  drain.set({ since: 6, reason: 'New disks.' });
  assert.deepEqual(drain.get(), { since: 6, reason: 'New disks.' });
  drain.clear();
  assert.equal(drain.get(), undefined);

  assert.equal(retention.get(), undefined);
  retention.set('{}');
  retention.set('{"days":30}');
  assert.equal(retention.get(), '{"days":30}');
});

test('a job that an operator cancels ends with their sentence, before what else is known', async (t) => {
  const { store, add, finish } = storeOf(t);
  const reasonOf = async (id: string, sentence: string | undefined, reason: string | null, state = 'cancelled') => {
    const job = await add(id);
    if (sentence !== undefined) store.jobs.setCancelReason(id, sentence);
    return finish(job, { state: state as 'cancelled' | 'failed', reason }).reason;
  };
  const sentence = 'An operator cancelled it.';
  assert.equal(await reasonOf('a', sentence, null), sentence);
  assert.equal(await reasonOf('b', sentence, 'It was running.'), `${sentence} It was running.`);
  assert.equal(await reasonOf('c', undefined, 'It was running.'), 'It was running.');
  assert.equal(await reasonOf('d', undefined, null), null);
  assert.equal(await reasonOf('e', sentence, 'Exit code 1.', 'failed'), 'Exit code 1.');
});

test('the end of a job without a price says what it had of its machine', async (t) => {
  const { store, add, finish } = storeOf(t);
  const endOf = async (id: string, change: object): Promise<unknown> => {
    const { number } = finish(await add(id, change));
    return JSON.parse(store.events.page(number, 0, 1e6).at(-1)?.data ?? '');
  };
  const end = { state: 'succeeded', exit_code: 0, credits_charged: 0 };
  assert.deepEqual(await endOf('a', {}), end);
  assert.deepEqual(await endOf('b', { unpricedCpus: 4, unpricedGpus: 1 }), {
    ...end,
    unpriced_cpus: 4,
    unpriced_gpus: 1,
  });
});

test('the number of a job at its executor is stored with it', async (t) => {
  const { store, add } = storeOf(t);
  assert.equal((await add('a')).executorId, null);
  store.jobs.setExecutorId('a', '4711');
  assert.equal(store.jobs.get('a')?.executorId, '4711');
});
