import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredJob } from '../../../../../src/service/store/jobs/jobTable.ts';
import { storeOf } from '../storeOf.ts';

const ids = (jobs: readonly StoredJob[]): string => jobs.map(({ id }) => id).join('');

async function startEnded(t: Parameters<typeof storeOf>[0]) {
  const { store, add, finish } = storeOf(t);
  await add('running');
  const jobs: StoredJob[] = [];
  for (const [id, finishedAt] of [
    ['a', 10],
    ['b', 30],
    ['c', 20],
    ['d', 30],
  ] as const) {
    jobs.push(finish(await add(id), { finishedAt }));
  }
  return { store, jobs, expiry: store.expiry };
}

test('jobs with files are found by their end, from either side, until their removal is noted', async (t) => {
  const { store, jobs, expiry } = await startEnded(t);
  assert.equal(ids(expiry.withFiles(30, 9)), 'ac');
  assert.equal(ids(expiry.withFiles(31, 9)), 'acbd');
  assert.equal(ids(expiry.withFiles(31, 1)), 'a');
  const newest = expiry.newestWithFiles(undefined, 2);
  assert.equal(ids(newest), 'db');
  const { finishedAt, number } = newest[1] ?? assert.fail();
  assert.equal(ids(expiry.newestWithFiles({ finishedAt: finishedAt ?? 0, number }, 9)), 'ca');
  expiry.noteFilesRemoved(jobs[0] ?? assert.fail(), 50);
  assert.equal(ids(expiry.withFiles(31, 9)), 'cbd');
  assert.equal(ids(expiry.newestWithFiles(undefined, 9)), 'dbc');
  assert.equal(store.jobs.get('a')?.filesRemovedAt, 50);
});

test('no files are found while somebody has paused it, and logs are', async (t) => {
  const { expiry } = await startEnded(t);
  const [first, second] = [expiry.pause(), expiry.pause()];
  first[Symbol.dispose]();
  assert.deepEqual([expiry.withFiles(31, 9), expiry.newestWithFiles(undefined, 9)], [[], []]);
  assert.equal(expiry.withEvents(31, 9).length, 4);
  second[Symbol.dispose]();
  assert.equal(expiry.withFiles(31, 9).length, 4);
});

test('the events of a job go step by step, except its states and its end, and a note says so', async (t) => {
  const { store, jobs, expiry } = await startEnded(t);
  const fired: number[] = [];
  expiry.onDidRemoveEvents((number) => void fired.push(number));
  const [job = assert.fail(), other = assert.fail()] = jobs;
  const line = { type: 'log', data: { stream: 'stdout', text: 'a line\n' } } as const;
  await store.appendOutput(
    job.id,
    Array.from({ length: 1_100 }, () => line),
    0,
  );
  const events = () =>
    store.events
      .page(job.number, 0, 1e9)
      .map(({ type, data }) => (type === 'log' ? (JSON.parse(data) as { text: string }).text : type));
  const before = events().filter((type) => type !== 'a line\n');
  assert.deepEqual(before, ['state', 'state', 'end']);
  assert.equal(expiry.countLogs(11), 1);
  assert.equal(ids(expiry.withEvents(31, 9)), 'acbd');

  assert.equal(expiry.removeEvents(job, 'It was removed.', 60), true);
  assert.equal(events().length, 3 + 600);
  assert.equal(expiry.removeEvents(job, 'It was removed.', 60), true);
  assert.equal(expiry.removeEvents(job, 'It was removed.', 60), false);
  const left = events();
  assert.deepEqual(left.slice(0, 3), before);
  assert.equal(left.length, 4);
  assert.match(left[3] ?? '', /It was removed\./);
  assert.equal(ids(expiry.withEvents(31, 9)), 'cbd');
  assert.equal(expiry.countLogs(11), 0);
  assert.equal(expiry.countLogs(31), 3);

  // A job that printed nothing has nothing to replace.
  assert.equal(expiry.removeEvents(other, 'It was removed.', 61), false);
  assert.deepEqual(
    store.events.page(other.number, 0, 1e9).map(({ type }) => type),
    ['state', 'state', 'end'],
  );
  assert.deepEqual(fired, [job.number, job.number, job.number, other.number]);
});
