import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { JobStore, type JobsChange } from '../../../../../src/extension/jobs/store/jobStore.ts';
import { type AsyncLedger, directLedger } from '../../../../../src/jobs/ledger/asyncLedger.ts';
import { hasLedger, readChangeMark } from '../../../../../src/jobs/ledger/changeMark.ts';
import { NO_FILTER } from '../../../../../src/jobs/ledger/jobFilter.ts';
import { JobLedger } from '../../../../../src/jobs/ledger/ledger.ts';
import type { JobRecord } from '../../../../../src/jobs/ledger/record.ts';
import { insertAll, tempHome } from '../../../jobs/fixtures.ts';
import { jobRecord, runningJob } from '../../jobs.ts';

const EXIT = { state: 'failed', exitCode: 1, finishedAt: '2026-11-20T12:05:00.000Z' };
const job = (id: string, change: Partial<JobRecord> = {}): JobRecord => jobRecord({ id, jobId: id, ...change });
const running = (id: string): JobRecord => runningJob({ id, jobId: id });
/** Jobs of a minute each, newest first. */
const jobs = (count: number, change: Partial<JobRecord> = {}): JobRecord[] =>
  Array.from({ length: count }, (_, index) => {
    const createdAt = new Date(Date.UTC(2026, 9, 20) - 60_000 * index).toISOString();
    return job(`${change.state ?? 'job'}-${index}`, { createdAt, ...change });
  });

function storeOf(t: TestContext, records: readonly JobRecord[]) {
  const home = tempHome(t);
  const ledger = new JobLedger(home);
  t.after(() => ledger.dispose());
  insertAll(home, records);
  const reads = { list: 0, changes: 0 };
  const direct = directLedger(ledger);
  const store = new JobStore({
    ...direct,
    list: (query) => {
      reads.list += 1;
      return direct.list(query);
    },
    changesSince: (number) => {
      reads.changes += 1;
      return direct.changesSince(number);
    },
  });
  const changes: JobsChange[] = [];
  store.onDidChange((change) => void changes.push(change));
  return { home, ledger, store, changes, reads };
}

test('the first reading is reported even when there is no job', async (t) => {
  const { store, changes } = storeOf(t, []);
  assert.equal(store.isLoaded, false);
  await store.refresh();
  assert.equal(store.isLoaded, true);
  assert.equal(changes.length, 1);
});

test('a ledger that does not exist is not created, and its first job is found, also one that has already ended', async (t) => {
  const home = tempHome(t);
  const end = new AbortController();
  let opened: JobLedger | undefined;
  const looked = Promise.withResolvers<void>();
  const open = (): AsyncLedger => directLedger((opened ??= new JobLedger(home)));
  const store = new JobStore(new Proxy({} as AsyncLedger, { get: (_, name): unknown => Reflect.get(open(), name) }), {
    isResting: () => opened === undefined,
    readMark: () => readChangeMark(home),
    hasLedger: async () => {
      const isThere = await hasLedger(home);
      looked.resolve();
      return isThere;
    },
  });
  const changes: JobsChange[] = [];
  const ended = new Promise<void>((resolve) => {
    store.onDidChange((change) => {
      changes.push(change);
      if (change.ended.length > 0) resolve();
    });
  });
  const following = store.untilUsed(end.signal).then(() => store.keepFresh(end.signal));
  t.after(async () => {
    end.abort();
    await following.catch(() => {});
    opened?.dispose();
  });
  await looked.promise;
  assert.equal(await hasLedger(home), false);
  const other = new JobLedger(home);
  other.insert(job('a', { ...EXIT, finishedAt: new Date().toISOString() }));
  other.dispose();
  const alive = setInterval(() => {}, 1_000); // waiting for jobs keeps no process alive
  await ended;
  clearInterval(alive);
  assert.deepEqual(
    changes.at(-1)?.ended.map(({ id }) => id),
    ['a'],
  );
});

test('only jobs that are new, changed or gone are named', async (t) => {
  const { ledger, store, changes } = storeOf(t, [job('a'), job('b'), job('d')]);
  await store.refresh();
  ledger.insert(job('c'));
  ledger.update('a', { downloadedAt: '2026-11-20T13:00:00.000Z' });
  ledger.remove('b');
  ledger.delete('d');
  await store.refresh();
  assert.deepEqual([...(changes[1]?.ids ?? [])].sort(), ['a', 'b', 'c', 'd']);
  assert.deepEqual(store.records.map(({ id }) => id).sort(), ['a', 'c']);
  await store.refresh();
  ledger.update('a', { downloadedAt: '2026-11-20T13:00:00.000Z' });
  await store.refresh();
  assert.equal(changes.length, 2, 'a reading without a change is not reported');
});

test('the change of one job is read alone, however many are shown', async (t) => {
  const { ledger, store, changes, reads } = storeOf(t, jobs(450));
  await store.refresh();
  await store.showMore();
  reads.list = 0;
  ledger.update('job-300', { lastLogLine: 'epoch 4' });
  await store.refresh();
  assert.deepEqual(
    [[...(changes.at(-1)?.ids ?? [])], store.get('job-300')?.lastLogLine, reads.list],
    [['job-300'], 'epoch 4', 0],
  );
});

test('more changes than can be read at once are found in the whole list', async (t) => {
  const { home, store, changes } = storeOf(t, [running('a')]);
  await store.refresh();
  const justNow = new Date(Date.now() + 1000).toISOString();
  insertAll(home, jobs(600, { finishedAt: justNow, createdAt: justNow }));
  await store.refresh();
  assert.deepEqual([store.records.length, changes[1]?.ended.length, store.get('a')?.state], [201, 200, 'running']);
});

test('a job that ends is reported once, as ended', async (t) => {
  const { ledger, store, changes } = storeOf(t, [running('a')]);
  await store.refresh();
  ledger.update('a', EXIT);
  await store.refresh();
  await store.refresh();
  assert.deepEqual(
    changes.map(({ ended }) => ended.map(({ state }) => state)),
    [[], ['failed']],
  );
});

test('a job that ended between two readings is reported as ended, an old one is not', async (t) => {
  const { ledger, store, changes } = storeOf(t, []);
  await store.refresh();
  const justNow = new Date(Date.now() + 1000).toISOString();
  ledger.insert(job('quick', { finishedAt: justNow }));
  ledger.insert(job('old'));
  await store.refresh();
  assert.deepEqual(
    changes[1]?.ended.map(({ id }) => id),
    ['quick'],
  );
});

test('jobs that were over when the window opened are not reported as ended', async (t) => {
  const { store, changes } = storeOf(t, [job('a')]);
  await store.refresh();
  assert.deepEqual(changes[0]?.ended, []);
});

test('a job whose results were counted is reported once, also if that was done between two readings', async (t) => {
  const results = { files: 2, added: 1 };
  const { ledger, store, changes } = storeOf(t, [running('a'), job('before', { results })]);
  await store.refresh();
  ledger.update('a', EXIT);
  await store.refresh();
  ledger.update('a', { results });
  await store.refresh();
  ledger.insert(job('quick', { results, finishedAt: new Date(Date.now() + 1000).toISOString() }));
  await store.refresh();
  assert.deepEqual(
    changes.map(({ counted }) => counted.map(({ id }) => id)),
    [[], [], ['a'], ['quick']],
  );
});

test('many jobs come page by page, newest first', async (t) => {
  const { store } = storeOf(t, jobs(450));
  await store.refresh();
  assert.deepEqual([store.records.length, store.hasMore], [200, true]);
  await store.showMore();
  await store.showMore();
  assert.deepEqual([store.records.length, store.hasMore], [450, false]);
  assert.deepEqual(store.records, jobs(450));
});

test('refreshes that come while one runs share a single further reading', async (t) => {
  const { store, reads } = storeOf(t, []);
  await store.refresh();
  reads.changes = 0;
  await Promise.all([store.refresh(), store.refresh(), store.refresh(), store.refresh()]);
  assert.equal(reads.changes, 2);
});

test('jobs that run or are pinned are there however many newer ones hide them', async (t) => {
  const old = { createdAt: '2025-01-01T00:00:00.000Z' };
  const hidden = [{ ...running('old'), ...old }, job('pinned', { pinned: true, ...old }), job('oldest', old)];
  const { store } = storeOf(t, [...jobs(300), ...hidden]);
  await store.refresh();
  assert.deepEqual([store.records.length, store.get('old')?.state, store.hasMore], [202, 'running', true]);
  assert.ok(store.get('pinned'));
});

test('a filter finds jobs of any age, keeps the others, and leaves no gaps when it is cleared', async (t) => {
  const { store } = storeOf(t, [
    ...jobs(300),
    ...jobs(250, { state: 'failed', createdAt: '2026-01-01T00:00:00.000Z' }),
  ]);
  const states = (): Record<string, number> => {
    const all = Map.groupBy(store.records, ({ state }) => state);
    return Object.fromEntries([...all].map(([state, records]) => [state, records.length]));
  };
  await store.setFilter({ ...NO_FILTER, states: ['failed'] });
  assert.deepEqual([states(), store.hasMore], [{ succeeded: 200, failed: 200 }, true]);
  await store.showMore();
  assert.deepEqual([states(), store.hasMore], [{ succeeded: 200, failed: 250 }, false]);
  await store.setFilter(NO_FILTER);
  assert.deepEqual([states(), store.hasMore], [{ succeeded: 200 }, true]);
});
