import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger } from '../../../../../src/core/log.ts';
import { FlowJobs, type RunSink } from '../../../../../src/extension/flows/runs/flowJobs.ts';
import { LostContacts } from '../../../../../src/extension/jobs/store/lostContacts.ts';
import type { RunInfo } from '../../../../../src/webview/canvas/state/canvasMessages.ts';
import { JobStore } from '../../../../../src/extension/jobs/store/jobStore.ts';
import { directLedger } from '../../../../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../../../../src/jobs/ledger/ledger.ts';
import { EventSpool } from '../../../../../src/jobs/log/spool.ts';
import { jobRecord, runningJob } from '../../jobs.ts';
import { GUARD_MS } from '../../../timeLimits.ts';

const FILE = '/home/ada/flows/research.mts';

/** Follows one submitted flow, and resolves `ended` when the end of its run is reported. */
async function follow(t: TestContext, home: string) {
  const ledger = new JobLedger(home);
  t.after(() => ledger.dispose());
  ledger.insert(runningJob({ id: 'a' }));
  const store = new JobStore(directLedger(ledger));
  await store.refresh();
  const kept = new Map<string, unknown>();
  const memory = {
    keys: () => [...kept.keys()],
    get: <T>(key: string, fallback?: T) => (kept.get(key) ?? fallback) as T,
    update: async (key: string, value: unknown) => void kept.set(key, value),
  };
  const ended = Promise.withResolvers<void>();
  const began: string[] = [];
  const changes: RunInfo[] = [];
  const sink: RunSink = {
    begin: (_file, { id }) => void began.push(id),
    events: () => {},
    end: () => ended.resolve(),
    changed: (_file, run) => void changes.push(run),
  };
  const lostContacts = new LostContacts();
  const jobs = new FlowJobs({ home, store, lostContacts, memory, log: silentLogger }, sink);
  t.after(() => jobs.dispose());
  await jobs.add('a', FILE, 'research');
  assert.deepEqual(began, ['a']);
  return { jobs, ledger, store, lostContacts, changes, ended: ended.promise };
}

async function homeOf(t: TestContext): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'farwharf-flow-jobs-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  return home;
}

test('the run of a job that is removed does not go on forever', { timeout: GUARD_MS }, async (t) => {
  const { jobs, ledger, store, ended } = await follow(t, await homeOf(t));
  assert.equal(jobs.list(FILE).length, 1);
  ledger.remove('a');
  await store.refresh();
  await ended;
  assert.deepEqual(jobs.list(FILE), []);
});

test('a run has ended when the ledger says so, which is after its events', { timeout: GUARD_MS }, async (t) => {
  const home = await homeOf(t);
  const { jobs, ledger, store, ended } = await follow(t, home);
  await new EventSpool(home, 'a').append([{ event: 'end', data: { state: 'succeeded' } }]);
  assert.equal(await Promise.race([ended.then(() => 'ended'), sleep(90, 'waits')]), 'waits');
  ledger.update('a', jobRecord({ id: 'a' }));
  await store.refresh();
  await ended;
  assert.equal(jobs.list(FILE)[0]?.state, 'done');
});

test('a run whose service does not respond says so until it does', { timeout: GUARD_MS }, async (t) => {
  const { jobs, lostContacts, changes } = await follow(t, await homeOf(t));
  assert.equal(jobs.list(FILE)[0]?.message, undefined);
  lostContacts.set('a', 'unreachable', Date.now());
  assert.match(jobs.list(FILE)[0]?.message ?? '', /^last seen running, .* · .* does not respond$/);
  lostContacts.clear('a');
  assert.deepEqual(
    changes.map(({ id, state, message }) => [id, state, message === undefined]),
    [
      ['a', 'running', false],
      ['a', 'running', true],
    ],
  );
});

test('a run whose events cannot be read is not shown as running for good', { timeout: GUARD_MS }, async (t) => {
  const home = await homeOf(t);
  await mkdir(join(home, 'spool', 'a.jsonl'), { recursive: true }); // a folder where the file should be
  const { ended } = await follow(t, home);
  await ended;
});
