import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger } from '../../../../src/core/log.ts';
import { Housekeeping } from '../../../../src/service/disk/housekeeping.ts';
import { removeExpired } from '../../../../src/service/disk/retention.ts';
import { retentionSettings } from '../../../../src/service/config/configSections.ts';
import { Health } from '../../../../src/service/health/health.ts';
import { JobFiles } from '../../../../src/service/jobFiles/jobFiles.ts';
import type { ServiceEvent } from '../../../../src/service/store/jobs/eventTable.ts';
import type { StoredJob } from '../../../../src/service/store/jobs/jobTable.ts';
import { Store } from '../../../../src/service/store/store.ts';

const DAY = 24 * 60 * 60_000;
const NOW = Date.UTC(2026, 5, 1);

class Place {
  readonly store: Store;
  readonly files: JobFiles;
  readonly data: string;

  constructor(t: TestContext) {
    this.data = mkdtempSync(join(tmpdir(), 'farwharf-retention-'));
    this.store = new Store(this.data, 1e9);
    this.files = new JobFiles(this.data);
    t.after(() => {
      this.store.dispose();
      rmSync(this.data, { recursive: true, force: true });
    });
  }

  /** A job with results of a size and so many lines of output; ended so many days ago, or running. */
  async job(id: string, { daysAgo, bytes = 10, lines = 3 }: { daysAgo?: number; bytes?: number; lines?: number }) {
    const createdAt = NOW - (daysAgo ?? 0) * DAY - 1_000;
    const common = { account: 'local', script: 'a.sh', project: null, machineClass: 'cpu', maxRuntime: 60 };
    await this.store.submit({ ...common, id, createdAt, hold: 100 }, [], { spec: '{}', archive: null, boot: 'none' });
    const folder = this.files.folder(id);
    mkdirSync(folder.path);
    writeFileSync(folder.results, Buffer.alloc(bytes));
    const logs = Array.from({ length: lines }, (_, line): ServiceEvent => {
      return { type: 'log', data: { stream: 'stdout', text: `line ${line}\n` } };
    });
    await this.store.appendOutput(id, logs, lines);
    this.store.setState(this.get(id), 'running', createdAt);
    if (daysAgo === undefined) return;
    const ending = {
      state: 'succeeded',
      finishedAt: NOW - daysAgo * DAY,
      exitCode: 0,
      reason: null,
      charged: 5,
    } as const;
    this.store.finish(this.get(id), ending, [{ type: 'artifact', data: { path: 'a', size: 1 } }]);
  }

  get(id: string): StoredJob {
    return this.store.jobs.get(id) ?? assert.fail(id);
  }

  hasResults(id: string): boolean {
    return existsSync(this.files.folder(id).results);
  }

  events(id: string): string[] {
    return this.store.events.page(this.get(id).number, 0, 1e9).map(({ id: number, type }) => `${number} ${type}`);
  }

  sweep(settings: Parameters<typeof retentionSettings.parse>[0], signal = new AbortController().signal) {
    const { store, files } = this;
    return removeExpired({
      expiry: store.expiry,
      files,
      log: silentLogger,
      settings: retentionSettings.parse(settings),
      now: NOW,
      signal,
    });
  }
}

test('results go after their days and logs after theirs; what runs, rows and credits stay', async (t) => {
  const place = new Place(t);
  await place.job('old', { daysAgo: 31, lines: 1_200 });
  await place.job('middle', { daysAgo: 8 });
  await place.job('young', { daysAgo: 6 });
  await place.job('running', {});
  const before = place.store.balances('local');
  const removed = await place.sweep({ days: 30, results_days: 7 });
  assert.deepEqual(removed, { results: 2, overflow: 0, logs: 1, resultsBytes: 10 });
  assert.deepEqual(
    ['old', 'middle', 'young', 'running'].map((id) => place.hasResults(id)),
    [false, false, true, true],
  );
  assert.deepEqual(readdirSync(join(place.data, 'jobs')).sort(), ['running', 'young']);
  assert.deepEqual([place.get('old').filesRemovedAt, place.get('young').filesRemovedAt], [NOW, null]);
  assert.equal(place.get('old').state, 'succeeded');
  assert.deepEqual(place.store.balances('local'), before);
  // The numbers of events stay what they were, so that a reader who comes back sees nothing twice.
  assert.deepEqual(place.events('old'), ['1 state', '2 log', '1202 state', '1204 state', '1205 end']);
  const [, note] = place.store.events.page(place.get('old').number, 0, 1e9);
  assert.match(note?.data ?? '', /"farwharf: the log was deleted: the service stores logs for 30 days/);
  assert.equal(place.events('middle').length, 8);
  assert.deepEqual(await place.sweep({ days: 30, results_days: 7 }), { ...removed, results: 0, logs: 0 });
});

test('where only days are said, results go with the log; where nothing is said, all stays', async (t) => {
  const place = new Place(t);
  await place.job('old', { daysAgo: 1_000 });
  assert.deepEqual(await place.sweep({}), { results: 0, overflow: 0, logs: 0, resultsBytes: 10 });
  assert.deepEqual(await place.sweep({ days: 30 }), { results: 1, overflow: 0, logs: 1, resultsBytes: 0 });
});

test('when all results together take too much, the oldest go', async (t) => {
  const place = new Place(t);
  for (let job = 0; job < 50; job += 1) await place.job(`job-${job}`, { daysAgo: 1 + (job % 10), bytes: 1_000 });
  const removed = await place.sweep({ max_total_gb: 20_500 / 1e9 });
  assert.deepEqual(removed, { results: 0, overflow: 30, logs: 0, resultsBytes: 20_000 });
  for (let job = 0; job < 50; job += 1) assert.equal(place.hasResults(`job-${job}`), job % 10 < 4, `job-${job}`);
});

test('a sweep that is interrupted continues at the next one, and yields to the event loop between its steps', async (t) => {
  const place = new Place(t);
  for (let job = 0; job < 40; job += 1) await place.job(`job-${job}`, { daysAgo: 40 });
  await place.job('long', { daysAgo: 40, lines: 3_000 });
  const stop = new AbortController();
  let turns = 0;
  const count = (): void => {
    turns += 1;
    if (turns === 8) stop.abort();
    if (turns < 8) setImmediate(count);
  };
  count();
  await assert.rejects(place.sweep({ days: 30 }, stop.signal), { name: 'AbortError' });
  const removed = await place.sweep({ days: 30 });
  assert.ok(removed.results > 0 && removed.results < 41 && removed.logs === 41, JSON.stringify(removed));
  assert.deepEqual(readdirSync(join(place.data, 'jobs')), []);
  assert.equal(place.events('long').length, 5);
});

test('a clock that is set ahead while the service runs deletes nothing; time that passes does', async (t) => {
  const place = new Place(t);
  await place.job('young', { daysAgo: 6 });
  const clock = t.mock.method(Date, 'now', () => NOW);
  const { store, files, data } = place;
  const settings = retentionSettings.parse({ days: 30 });
  const health = new Health({ store, folders: [data], minFreeBytes: 0 });
  const options = { expiry: store.expiry, files, health, tidyFiles: async () => {}, settings, log: silentLogger };
  const sweep = async (setAheadBy: number, passed: number): Promise<boolean> => {
    clock.mock.mockImplementation(() => NOW);
    const housekeeping = new Housekeeping(options);
    clock.mock.mockImplementation(() => NOW + passed + setAheadBy);
    const started = performance.now();
    const monotonic = t.mock.method(performance, 'now', () => started + passed);
    housekeeping.start();
    while (housekeeping.resultsBytes === undefined) await sleep(5);
    monotonic.mock.restore();
    await housekeeping.stop();
    return place.hasResults('young');
  };
  assert.equal(await sweep(400 * DAY, 0), true);
  assert.equal(await sweep(400 * DAY, 20 * DAY), true);
  assert.equal(await sweep(0, 25 * DAY), false);
});
