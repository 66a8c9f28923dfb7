import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { directArchiver } from '../../src/jobs/archives/archiver.ts';
import { directLedger } from '../../src/jobs/ledger/asyncLedger.ts';
import { followJob } from '../../src/jobs/log/follow.ts';
import { EventSpool } from '../../src/jobs/log/spool.ts';
import { ResultCounter } from '../../src/jobs/log/resultCounter.ts';
import { downloadResults } from '../../src/jobs/results/resultDownload.ts';
import { Selections } from '../../src/jobs/selection/selections.ts';
import { JobLedger } from '../../src/jobs/ledger/ledger.ts';
import { ResultJournals } from '../../src/jobs/results/resultJournals.ts';
import { planSubmit } from '../../src/jobs/plan/plan.ts';
import { sendPlan } from '../../src/jobs/send/pack.ts';
import { Index } from '../../src/retrieval/index/index.ts';
import { selectSearchable } from '../../src/workspace/select/searchableFiles.ts';
import { makeRecord } from './jobs/fixtures.ts';
import { leftOvers, makePlace, snapshot } from './jobs/results/killedDownloads.ts';
import { smallDisk } from '../smallDisk.ts';
import { temporaryFolder, writeTree } from './workspace/temporaryFolder.ts';

// Whatever the machine's pages are worth, everything fits into this many.
const MOST_PAGES = 600;
const MOST_NAMES = 600;

test('a full disk at any step leaves the folder entirely old or new, and the message names the disk', async (t) => {
  const small = smallDisk(t);
  if (small === undefined) return;
  // Too little room for contents stops what is unpacked; too few names also stop what is moved to its place.
  const limits = {
    pages: {
      next: (count: number) => count + 5,
      most: MOST_PAGES,
      limit: (count: number) => {
        small.fill();
        small.freePages(count);
      },
      end: () => small.free(),
    },
    names: {
      next: (count: number) => count + (count < 12 ? 1 : 8),
      most: MOST_NAMES,
      limit: (count: number) => small.leaveNames(count),
      end: () => small.leaveNames(undefined),
    },
  };
  for (const [what, { next, most, limit, end }] of Object.entries(limits)) {
    let refusals = 0;
    for (let count = 0; ; count = next(count)) {
      assert.ok(count < most);
      const place = makePlace(join(small.disk, 'place'));
      const before = snapshot(place.folder);
      const jobs = new JobLedger(place.home);
      limit(count);
      const service = {
        downloadArtifacts: async (_: string, dest: string): Promise<string> => {
          copyFileSync(place.archive, dest);
          return dest;
        },
      };
      const deps = {
        service,
        archiver: directArchiver,
        ledger: directLedger(jobs),
        home: place.home,
        journals: new ResultJournals(place.home),
      };
      const decide = (plan: readonly { readonly path: string }[]) =>
        new Map(plan.map(({ path }, index) => [path, index % 5 === 4 ? ('keep-both' as const) : ('write' as const)]));
      const error: unknown = await downloadResults(deps, place.id, { decide }).then(
        () => undefined,
        (caught: unknown) => caught,
      );
      const state = snapshot(place.folder);
      end();
      jobs.dispose();
      assert.deepEqual(leftOvers(place), [], `${count} ${what}`);
      const again = new JobLedger(place.home);
      assert.equal(again.problem, undefined);
      assert.equal(again.get(place.id)?.jobId, 'job-1');
      again.dispose();
      rmSync(join(small.disk, 'place'), { recursive: true });
      if (error === undefined) {
        assert.equal(state, place.expected);
        break;
      }
      refusals += 1;
      assert.equal(state, before, `${count} ${what}`);
      assertTold(error, small.disk, { where: `${count} ${what}` });
    }
    t.diagnostic(`${refusals} different numbers of ${what} were too little`);
    assert.ok(refusals > 0);
  }
});

test('a submit that finds too little room at any step says which disk is full, and what the service took stays known', async (t) => {
  const root = temporaryFolder(t);
  const small = smallDisk(t);
  if (small === undefined) return;
  const folder = join(root, 'project');
  writeTree(folder, { 'a.sh': 'true', 'b.txt': 'text' });
  const selections = new Selections();
  const selection = await selections.select(folder, { isTrusted: true });
  const target = { host: 'https://jobs.example.org', service: 'jobs.example.org', account: undefined };
  const plan = planSubmit(target, { script: 'a.sh', maxRuntime: 600, include: [], exclude: [] }, selection);
  let refusals = 0;
  for (let pages = 0; ; pages += 1) {
    assert.ok(pages < MOST_PAGES);
    const home = join(small.disk, 'home');
    mkdirSync(home);
    const earlier = new JobLedger(home);
    earlier.dispose();
    small.fill();
    small.freePages(pages);
    const taken: string[] = [];
    const service = {
      submitJob: async (_: string, __: unknown, options?: { idempotencyKey?: string }) => {
        taken.push(options?.idempotencyKey ?? '');
        return { job_id: 'job-1', state: 'queued', credit_hold: 1, credits_remaining: 9 };
      },
      getSubmission: async () => undefined,
    };
    const jobs = new JobLedger(home);
    const isInMemory = jobs.problem !== undefined;
    const deps = { service: service as never, selections, ledger: directLedger(jobs), home };
    const error: unknown = await sendPlan(deps, plan, { isTrusted: true }).then(
      () => undefined,
      (caught: unknown) => caught,
    );
    jobs.dispose();
    small.free();
    const again = new JobLedger(home);
    assert.equal(again.problem, undefined, `${pages} pages`);
    const records = again.list({ withRemoved: true });
    again.dispose();
    const database = new DatabaseSync(join(home, 'jobs.sqlite'));
    assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
    database.close();
    rmSync(home, { recursive: true });
    if (!isInMemory)
      assert.deepEqual(
        records.map(({ id }) => id),
        taken,
        `${pages} pages: the ledger has what the service took`,
      );
    if (error === undefined && !isInMemory) {
      assert.equal(records[0]?.jobId, 'job-1');
      break;
    }
    refusals += 1;
    const codes = ['no-space', 'outcome-unknown']; // the latter for a job that could not be recorded
    if (error !== undefined) assertTold(error, small.disk, { where: `${pages} pages`, codes });
  }
  t.diagnostic(`${refusals} different amounts of room were too little`);
  assert.ok(refusals > 0);
});

test('an index that finds too little room at any step finds everything, says which disk is full, and is whole once there is room', async (t) => {
  const root = temporaryFolder(t);
  const small = smallDisk(t);
  if (small === undefined) return;
  const folder = join(root, 'folder');
  writeTree(
    folder,
    Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`${at}.txt`, `word${at} zebra `.repeat(200)])),
  );
  let refusals = 0;
  for (let pages = 0; ; pages += 1) {
    assert.ok(pages < MOST_PAGES);
    const home = join(small.disk, 'home');
    mkdirSync(home);
    small.fill();
    small.freePages(pages);
    const index = await Index.open({ root: folder, home });
    await index.sync((await selectSearchable(folder, { isTrusted: false })).files);
    writeFileSync(join(folder, '0.txt'), `word0 pages${pages} zebra`);
    await index.update(['0.txt']);
    assert.equal(await firstHit(index, `pages${pages}`), '0.txt');
    const { problem } = index;
    small.free();
    await index.update(['1.txt']);
    if (index.isWriter) assert.equal(index.problem, undefined, `${pages} pages: once there is room it is kept`);
    index[Symbol.dispose]();
    using again = await Index.open({ root: folder, home });
    assert.equal(again.problem, undefined);
    if (index.isWriter || problem === undefined) assert.equal(await firstHit(again, `pages${pages}`), '0.txt');
    again[Symbol.dispose]();
    assert.deepEqual(
      readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tmp')),
      [],
    );
    rmSync(home, { recursive: true });
    if (problem === undefined) break;
    refusals += 1;
    assertTold(problem, small.disk, { where: `${pages} pages` });
  }
  t.diagnostic(`${refusals} different amounts of room were too little`);
  assert.ok(refusals > 0);
});

test('jobs are still listed on a full disk', (t) => {
  const small = smallDisk(t);
  if (small === undefined) return;
  const record = makeRecord();
  const earlier = new JobLedger(small.home);
  earlier.insert(record);
  earlier.dispose();
  small.fill();
  const ledger = new JobLedger(small.home);
  assert.match(ledger.problem ?? '', /cannot be changed .* free space/);
  assert.deepEqual(ledger.list(), [record]);
  ledger.dispose();
});

test('a log that finds too little room at any step has each event once when there is room again', async (t) => {
  const small = smallDisk(t);
  if (small === undefined) return;
  const lines = Array.from({ length: 60 }, (_, at) => ({
    event: 'log',
    data: { stream: 'stdout', text: `${at} ${'x'.repeat(200)}\n` },
  }));
  const sent = [...lines, { event: 'end', data: { state: 'succeeded', exit_code: 0, credits_charged: 1 } }].map(
    (event, at) => ({ ...event, id: String(at + 1) }),
  );
  const service = {
    me: async () => ({}),
    getJob: async () => ({ job_id: 'job-1', state: 'succeeded', exit_code: 0, credits_charged: 1 }),
    async *streamEvents(_: string, { lastEventId = '0' }: { lastEventId?: string } = {}) {
      for (const event of sent.slice(Number(lastEventId))) {
        yield event;
        if (Number(event.id) % 7 === 0) await nextTurn(); // batches of several sizes
      }
    },
  };
  let refusals = 0;
  for (let pages = 0; ; pages += 1) {
    assert.ok(pages < MOST_PAGES);
    const home = join(small.disk, 'home');
    mkdirSync(home);
    const record = makeRecord();
    const earlier = new JobLedger(home);
    earlier.insert(record);
    earlier.dispose();
    const spool = new EventSpool(home, record.id);
    const follow = async (): Promise<void> => {
      const jobs = new JobLedger(home);
      try {
        await followJob({ service, spool, ledger: directLedger(jobs), results: new ResultCounter(home) }, record.id, {
          signal: t.signal,
          leaseMs: 40,
          backoff: { firstMs: 1, factor: 1 },
        });
      } finally {
        jobs.dispose();
      }
    };
    small.fill();
    small.freePages(pages);
    const error: unknown = await follow().then(
      () => undefined,
      (caught: unknown) => caught,
    );
    const before = (await Array.fromAsync(spool.read())).map(({ id }) => id);
    assert.deepEqual(
      before,
      sent.slice(0, before.length).map(({ id }) => id),
      `${pages} pages`,
    );
    small.free();
    await follow();
    const events = await Array.fromAsync(spool.read());
    assert.deepEqual(
      events.map(({ event, data, id }) => ({ event, data, id })),
      sent,
      `${pages} pages`,
    );
    rmSync(home, { recursive: true });
    if (error === undefined) break;
    refusals += 1;
    assertTold(error, small.disk, { where: `${pages} pages` });
  }
  t.diagnostic(`${refusals} different amounts of room were too little`);
  assert.ok(refusals > 0);
});

async function firstHit(index: Index, word: string): Promise<string | undefined> {
  const [hit] = await index.search(word, 1);
  return hit?.text.includes(word) === true ? hit.path : undefined;
}

/** One line, with what is full and where. */
function assertTold(
  error: unknown,
  disk: string,
  { where, codes = ['no-space'] }: { readonly where: string; readonly codes?: readonly string[] },
): void {
  assert.ok(error instanceof Error, where);
  assert.ok(codes.includes((error as { code?: string }).code ?? ''), `${where}: ${error.stack}`);
  assert.match(error.message, /disk.* is full.* Free some space/, where);
  assert.ok(error.message.includes(disk), `${where}: "${error.message}" does not say which`);
  assert.ok(!error.message.includes('\n'), where);
}
