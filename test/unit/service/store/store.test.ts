import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { LogEventData } from '../../../../src/remote/protocol/schemas.ts';
import type { ServiceEvent } from '../../../../src/service/store/jobs/eventTable.ts';
import type { Ending, NewJob, StoreChange } from '../../../../src/service/store/jobs/jobTable.ts';
import { Store } from '../../../../src/service/store/store.ts';

const WORKSPACE = { spec: '{}', archive: Buffer.from('tar'), boot: 'boot-1' };
const ENDING: Ending = { state: 'succeeded', finishedAt: 3_000, exitCode: 0, reason: null, charged: 40 };
const LOG: LogEventData = { stream: 'stdout', text: 'a line\n' };

function openStore(t: TestContext): Store {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-store-'));
  const store = new Store(folder);
  t.after(() => {
    store.dispose();
    rmSync(folder, { recursive: true });
  });
  store.addAccount({ id: 'ada', name: 'Ada', plan: 'team', createdAt: 0 });
  store.grant('ada', { reference: 'start', amount: 250, at: 0 });
  return store;
}

function newJob(id: string, change: Partial<NewJob> = {}): NewJob {
  return {
    id,
    account: 'ada',
    script: 'a.sh',
    machineClass: 'cpu',
    maxRuntime: 60,
    createdAt: 1_000,
    hold: 100,
    ...change,
  };
}

function jobOf(store: Store, id: string) {
  const job = store.jobs.get(id);
  assert.ok(job);
  return job;
}

const typesOf = (store: Store, id: string): string[] =>
  store.events.page(jobOf(store, id).number, 0, 1e6).map(({ id: number, type }) => `${number} ${type}`);

test('a job is accepted while its hold is available, and one that costs more leaves nothing', async (t) => {
  const store = openStore(t);
  assert.deepEqual(await store.submit(newJob('a'), [LOG], WORKSPACE), {
    isAccepted: true,
    available: { amount: 150, limit: 'account' },
  });
  assert.deepEqual(await store.submit(newJob('b', { hold: 150 }), [], WORKSPACE), {
    isAccepted: true,
    available: { amount: 0, limit: 'account' },
  });
  const key = { key: 'k', fingerprint: 'f' };
  assert.deepEqual(await store.submit(newJob('c', { hold: 1 }), [], WORKSPACE, key), {
    isAccepted: false,
    available: { amount: 0, limit: 'account' },
  });
  assert.deepEqual([store.jobs.get('c'), store.submissions.find('ada', 'k')], [undefined, undefined]);
  assert.deepEqual(store.balances('ada'), { available: 0, held: 250, spent: 0 });
  assert.deepEqual(typesOf(store, 'a'), ['1 state', '2 log']);
});

test('a job has what its submission set, and nothing of its run and end', async (t) => {
  const store = openStore(t);
  await store.submit(newJob('a', { project: 'demo' }), [], WORKSPACE);
  const { number: _, ...job } = jobOf(store, 'a');
  const unset = {
    startedAt: null,
    finishedAt: null,
    exitCode: null,
    reason: null,
    charged: null,
    filesRemovedAt: null,
    keyId: null,
    group: null,
    executorId: null,
    cancelReason: null,
    stopReason: null,
    unpricedCpus: null,
    unpricedGpus: null,
    command: null,
    debug: null,
    holdSeconds: null,
    frozen: null,
    frozenMs: null,
  };
  assert.deepEqual(job, { ...newJob('a', { project: 'demo' }), ...unset, state: 'queued', logOffset: 0 });
});

test('a job that runs has a start, and one that is put back into the queue has neither a start nor a workspace that is written', async (t) => {
  const store = openStore(t);
  await store.submit(newJob('a'), [], WORKSPACE);
  const { number } = jobOf(store, 'a');
  assert.deepEqual(store.workspaces.get(number), WORKSPACE);
  store.workspaces.setBoot(number, 'boot-2');
  store.setState(jobOf(store, 'a'), 'starting', 1_500, 'soon');
  assert.deepEqual([jobOf(store, 'a').startedAt, jobOf(store, 'a').reason], [null, 'soon']);
  assert.equal(store.workspaces.get(number)?.boot, 'boot-2');
  store.setState(jobOf(store, 'a'), 'running', 2_000);
  assert.deepEqual([jobOf(store, 'a').startedAt, jobOf(store, 'a').reason], [2_000, null]);
  await store.appendOutput('a', [{ type: 'log', data: LOG }], 70);
  store.requeue(jobOf(store, 'a'), 'It starts again.', 'Of another run.');
  const again = jobOf(store, 'a');
  assert.deepEqual(
    [again.state, again.startedAt, again.reason, again.logOffset],
    ['queued', null, 'It starts again.', 0],
  );
  assert.deepEqual([store.workspaces.get(number)?.boot, store.workspaces.get(number)?.spec], ['', WORKSPACE.spec]);
  store.removeWorkspace(again);
  assert.equal(store.workspaces.get(number), undefined);
});

test('a job ends once, with its last events, its charge and the rest of its hold back', async (t) => {
  const store = openStore(t);
  await store.submit(newJob('a'), [], WORKSPACE);
  store.finish(jobOf(store, 'a'), ENDING, [{ type: 'log', data: LOG }]);
  store.finish(jobOf(store, 'a'), { ...ENDING, state: 'failed', charged: 1 }, []);
  const { state, finishedAt, exitCode, charged, number } = jobOf(store, 'a');
  assert.deepEqual([state, finishedAt, exitCode, charged], ['succeeded', 3_000, 0, 40]);
  assert.deepEqual(store.balances('ada'), { available: 210, held: 0, spent: 40 });
  assert.deepEqual(typesOf(store, 'a'), ['1 state', '2 log', '3 state', '4 end']);
  assert.equal(store.workspaces.get(number), undefined);
  const end = store.events.page(number, 3, 1e6).map(({ data }) => JSON.parse(data) as unknown);
  assert.deepEqual(end, [{ state: 'succeeded', exit_code: 0, credits_charged: 0.000_04 }]);
});

test('output is stored with its position in the log, and its readers get the last number', async (t) => {
  const store = openStore(t);
  await store.submit(newJob('a'), [], WORKSPACE);
  const numbers: number[] = [];
  const subscription = store.onDidAppend('a', (last) => numbers.push(last));
  await store.appendOutput(
    'a',
    [1, 2, 3].map(() => ({ type: 'log', data: LOG })),
    77,
  );
  assert.deepEqual([jobOf(store, 'a').logOffset, numbers], [77, [4]]);
  subscription.dispose();
  await store.appendOutput('a', [{ type: 'log', data: LOG }], 99);
  assert.deepEqual([jobOf(store, 'a').logOffset, numbers], [99, [4]]);
  const { number } = jobOf(store, 'a');
  assert.equal(store.events.last(number), 5);
  assert.equal(store.events.last(number + 1), 0);
});

test('a page of events has as many as reach its length, and at least one', async (t) => {
  const store = openStore(t);
  await store.submit(newJob('a'), [LOG, LOG, LOG], WORKSPACE);
  const { number } = jobOf(store, 'a');
  const length = JSON.stringify(LOG).length;
  const page = (after: number, enough: number): number[] =>
    store.events.page(number, after, enough).map(({ id }) => id);
  assert.deepEqual([page(1, 0), page(1, length), page(1, length + 1), page(2, 1e6)], [[2], [2], [2, 3], [3, 4]]);
  assert.deepEqual(page(4, 1e6), []);
});

test('a caller that waits for the end of a job is woken by it, at once if it has ended', async (t) => {
  const store = openStore(t);
  await store.submit(newJob('a'), [], WORKSPACE);
  const { signal } = new AbortController();
  let isOver = false;
  const waiting = store.untilFinished('a', signal).then(() => (isOver = true));
  store.setState(jobOf(store, 'a'), 'running', 2_000);
  await Promise.resolve();
  assert.equal(isOver, false);
  store.finish(jobOf(store, 'a'), ENDING, []);
  await waiting;
  await store.untilFinished('a', signal);
});

test('each change is reported once it is stored', async (t) => {
  const store = openStore(t);
  const changes: StoreChange[] = [];
  store.onDidChange((change) => changes.push(change));
  await store.submit(newJob('a'), [LOG], WORKSPACE);
  await store.submit(newJob('much', { hold: 1_000 }), [], WORKSPACE);
  store.setState(jobOf(store, 'a'), 'starting', 1_500);
  store.setState(jobOf(store, 'a'), 'running', 2_000);
  const output = [1, 2, 3].map((): ServiceEvent => ({ type: 'log', data: LOG }));
  await store.appendOutput('a', output, 77);
  store.finish(jobOf(store, 'a'), ENDING, []);
  const reported = changes.map((change) => (change.type === 'events' ? change.count : change.type));
  assert.deepEqual(reported, [2, 'submitted', 1, 1, 'started', 3, 2, 'ended']);
});

test('jobs are found by their account only, listed newest first from any of them, and counted while they last', async (t) => {
  const store = openStore(t);
  for (const id of ['a', 'b', 'c']) await store.submit(newJob(id, { hold: 10 }), [], WORKSPACE);
  await store.submit(newJob('own', { account: 'local', hold: 0, machineClass: 'gpu' }), [], WORKSPACE);
  store.setState(jobOf(store, 'b'), 'running', 2_000);
  store.finish(jobOf(store, 'c'), { ...ENDING, charged: 0 }, []);
  assert.deepEqual([store.jobs.find('local', 'a'), store.jobs.find('ada', 'a')?.id], [undefined, 'a']);
  const listed = (limit: number, before?: string): string[] =>
    store.jobs.list('ada', limit, before === undefined ? undefined : jobOf(store, before)).map(({ id }) => id);
  assert.deepEqual(
    [listed(10), listed(2), listed(10, 'c'), listed(10, 'a')],
    [['c', 'b', 'a'], ['c', 'b'], ['b', 'a'], []],
  );
  assert.deepEqual(
    store.jobs.unfinished().map(({ id }) => id),
    ['a', 'b', 'own'],
  );
  assert.equal(store.unfinished.count, 3);
  assert.deepEqual(store.jobs.countOf('ada'), { queued: 1, active: 1 });
  assert.deepEqual(
    [1, 2, Number.POSITIVE_INFINITY].map((count) => store.jobs.queuesAtLeast('ada', count)),
    [true, false, false],
  );
  assert.deepEqual(
    store.jobs
      .countByState()
      .toSorted((one, other) => (one.state + one.machineClass < other.state + other.machineClass ? -1 : 1)),
    [
      { state: 'queued', machineClass: 'cpu', count: 1 },
      { state: 'queued', machineClass: 'gpu', count: 1 },
      { state: 'running', machineClass: 'cpu', count: 1 },
    ],
  );
});

test('a submission is found by its key until it is forgotten, and its job stays', async (t) => {
  const store = openStore(t);
  const key = { key: 'k', fingerprint: 'f' };
  await store.submit(newJob('a'), [], WORKSPACE, key);
  const known = { ...key, account: 'ada', jobId: 'a', createdAt: 1_000, creditsRemaining: 150 };
  assert.deepEqual([store.submissions.find('ada', 'k'), store.submissions.find('local', 'k')], [known, undefined]);
  store.submissions.forget(1_000);
  assert.deepEqual(store.submissions.find('ada', 'k'), known);
  store.submissions.forget(1_001);
  assert.equal(store.submissions.find('ada', 'k'), undefined);
  assert.equal(jobOf(store, 'a').id, 'a');
});
