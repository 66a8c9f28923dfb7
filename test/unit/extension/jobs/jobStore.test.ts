import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobStore, type JobsChange } from '../../../../src/extension/jobs/jobStore.ts';
import type { AsyncLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { isOver, type JobRecord } from '../../../../src/jobs/ledger/record.ts';
import { jobRecord, runningJob } from '../jobs.ts';

function storeOf(first: JobRecord[]) {
  const ledger = { records: first, reads: 0 };
  const list: AsyncLedger['list'] = async ({ limit = 100, before, isUnfinished } = {}) => {
    ledger.reads += 1;
    const start = ledger.records.findIndex(({ id }) => id === before?.id) + 1;
    return ledger.records
      .filter((record, index) => index >= start && !(isUnfinished && isOver(record)))
      .slice(0, limit);
  };
  const store = new JobStore({ list } as AsyncLedger);
  const changes: JobsChange[] = [];
  store.onDidChange((change) => void changes.push(change));
  return { ledger, store, changes };
}

test('the first reading is reported even if there is no job', async () => {
  const { store, changes } = storeOf([]);
  assert.equal(store.isLoaded, false);
  await store.refresh();
  assert.equal(store.isLoaded, true);
  assert.equal(changes.length, 1);
});

test('only jobs that are new, changed or gone are named', async () => {
  const [a, b, c] = ['a', 'b', 'c'].map((id) => jobRecord({ id }));
  assert.ok(a && b && c);
  const { ledger, store, changes } = storeOf([a, b]);
  await store.refresh();
  ledger.records = [c, { ...a, downloadedAt: '2026-11-20T13:00:00.000Z' }];
  await store.refresh();
  assert.deepEqual([...(changes[1]?.ids ?? [])].sort(), ['a', 'b', 'c']);
  await store.refresh();
  assert.equal(changes.length, 2, 'a reading without a change is not reported');
});

test('a job that ends is reported once, as ended', async () => {
  const { ledger, store, changes } = storeOf([runningJob({ id: 'a' })]);
  await store.refresh();
  ledger.records = [jobRecord({ id: 'a', state: 'failed' })];
  await store.refresh();
  await store.refresh();
  assert.deepEqual(
    changes.map(({ ended }) => ended.map(({ state }) => state)),
    [[], ['failed']],
  );
});

test('a job that ended between two readings is reported as ended, an old one from another page is not', async () => {
  const { ledger, store, changes } = storeOf([]);
  await store.refresh();
  const justNow = new Date(Date.now() + 1000).toISOString();
  ledger.records = [jobRecord({ id: 'quick', finishedAt: justNow }), jobRecord({ id: 'old' })];
  await store.refresh();
  assert.deepEqual(
    changes[1]?.ended.map(({ id }) => id),
    ['quick'],
  );
});

test('jobs that were over when the window opened are not reported as ended', async () => {
  const { store, changes } = storeOf([jobRecord()]);
  await store.refresh();
  assert.deepEqual(changes[0]?.ended, []);
});

test('a job whose results were counted is reported once, even between two readings', async () => {
  const results = { files: 2, added: 1 };
  const { ledger, store, changes } = storeOf([runningJob({ id: 'a' }), jobRecord({ id: 'before', results })]);
  await store.refresh();
  ledger.records = [jobRecord({ id: 'a' })];
  await store.refresh();
  ledger.records = [jobRecord({ id: 'a', results })];
  await store.refresh();
  const finishedAt = new Date(Date.now() + 1000).toISOString();
  ledger.records = [jobRecord({ id: 'a', results }), jobRecord({ id: 'quick', results, finishedAt })];
  await store.refresh();
  assert.deepEqual(
    changes.map(({ counted }) => counted.map(({ id }) => id)),
    [[], [], ['a'], ['quick']],
  );
});

test('10,000 jobs come page by page', async () => {
  const { store } = storeOf(Array.from({ length: 10_000 }, (_, index) => jobRecord({ id: String(index) })));
  await store.refresh();
  assert.equal(store.records.length, 200);
  assert.equal(store.hasMore, true);
  await store.showMore();
  assert.equal(store.records.length, 400);
});

test('refreshes that come while one runs share a single further reading', async () => {
  const { ledger, store } = storeOf([]);
  await Promise.all([store.refresh(), store.refresh(), store.refresh(), store.refresh()]);
  assert.equal(ledger.reads, 2);
});

test('a job that runs is there however many newer ones hide it', async () => {
  const newer = Array.from({ length: 300 }, (_, index) => jobRecord({ id: `newer-${index}` }));
  const { store } = storeOf([...newer, runningJob({ id: 'old' }), jobRecord({ id: 'oldest' })]);
  await store.refresh();
  assert.deepEqual([store.records.length, store.get('old')?.state, store.hasMore], [201, 'running', true]);
});
