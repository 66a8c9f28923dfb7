import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { directLedger, ledgerChanges } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { readChangeMark } from '../../../../src/jobs/ledger/changeMark.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { isOver, type JobRecord } from '../../../../src/jobs/ledger/record.ts';
import { makeRecord, tempHome } from '../fixtures.ts';

test('a record comes back as it was written, and a patch changes only what it names', (t) => {
  const ledger = new JobLedger(tempHome(t));
  t.after(() => ledger.dispose());
  const record = makeRecord({ venv: { requirements: ['numpy'] }, folder: '/home/ada/größe 🚀' });
  ledger.insert(record);
  assert.deepEqual(ledger.get(record.id), record);
  const changed = ledger.update(record.id, { state: 'running', startedAt: '2026-01-01T00:00:01.000Z' });
  assert.deepEqual(changed, { ...record, state: 'running', startedAt: '2026-01-01T00:00:01.000Z' });
  assert.deepEqual(ledger.get(record.id), changed);
  assert.throws(() => ledger.update('nobody', { state: 'running' }), {
    code: 'missing',
    message: 'Job nobody is not in the list.',
  });
});

test('the same job of one host cannot be listed twice, and jobs without an id do not clash', (t) => {
  const ledger = new JobLedger(tempHome(t));
  t.after(() => ledger.dispose());
  ledger.insert(makeRecord({ jobId: 'job-1' }));
  assert.throws(() => ledger.insert(makeRecord({ jobId: 'job-1' })), { code: 'conflict' });
  ledger.insert(makeRecord({ jobId: 'job-1', host: 'https://gpu.example.org' }));
  ledger.insert(makeRecord({ jobId: null }));
  const other = makeRecord({ jobId: null });
  ledger.insert(other);
  assert.throws(() => ledger.update(other.id, { jobId: 'job-1' }), { code: 'conflict' });
  assert.equal(ledger.list().length, 4);
});

test('lists are newest first, filtered by host and folder, and paged without gaps at equal times', (t) => {
  const ledger = new JobLedger(tempHome(t));
  t.after(() => ledger.dispose());
  for (let index = 0; index < 25; index += 1) {
    ledger.insert(
      makeRecord({
        createdAt: `2026-01-01T00:00:0${Math.floor(index / 5)}.000Z`,
        host: index % 2 === 0 ? 'local' : 'https://gpu.example.org',
        folder: index % 5 === 0 ? '/five' : '/other',
      }),
    );
  }
  const all = ledger.list();
  assert.deepEqual(
    all.map(({ createdAt }) => createdAt),
    all
      .map(({ createdAt }) => createdAt)
      .toSorted()
      .reverse(),
  );
  assert.equal(ledger.list({ host: 'local' }).length, 13);
  assert.equal(ledger.list({ folder: '/five' }).length, 5);
  const paged = [];
  for (let page = ledger.list({ limit: 4 }); page.length > 0; page = ledger.list({ limit: 4, before: page.at(-1) })) {
    paged.push(...page);
  }
  assert.deepEqual(paged, all);
});

test('unfinished jobs are those that isOver does not call over, whatever words a service uses', (t) => {
  const ledger = new JobLedger(tempHome(t));
  t.after(() => ledger.dispose());
  const records = [
    makeRecord({ jobId: 'runs', state: 'running' }),
    makeRecord({ jobId: 'foreign', state: 'PROVISIONING' }),
    makeRecord({ jobId: 'ended', state: 'Succeeded' }),
    makeRecord({ jobId: 'exited', state: 'PROVISIONING', exitCode: 0 }),
    makeRecord({ jobId: 'finished', state: 'odd', finishedAt: '2026-01-01T00:00:01.000Z' }),
  ];
  for (const record of records) ledger.insert(record);
  const jobIds = (list: readonly JobRecord[]) => new Set(list.map(({ jobId }) => jobId));
  assert.deepEqual(jobIds(ledger.list({ isUnfinished: true })), new Set(['foreign', 'runs']));
  assert.deepEqual(jobIds(records.filter((record) => !isOver(record))), new Set(['foreign', 'runs']));
});

test('removing takes a job off the list and keeps its record', (t) => {
  const ledger = new JobLedger(tempHome(t));
  t.after(() => ledger.dispose());
  const record = makeRecord({ jobId: 'job-7' });
  ledger.insert(record);
  ledger.remove(record.id);
  assert.deepEqual(ledger.list(), []);
  assert.equal(ledger.list({ withRemoved: true }).length, 1);
  assert.equal(ledger.find('job-7')[0]?.removed, true);
  ledger.delete(record.id);
  assert.deepEqual(ledger.list({ withRemoved: true }), []);
});

test('a job is found by its exact id first, then by the start of either id', (t) => {
  const ledger = new JobLedger(tempHome(t));
  t.after(() => ledger.dispose());
  const short = makeRecord({ id: 'aaaa1111-0000-4000-8000-000000000000', jobId: 'j1' });
  const long = makeRecord({
    id: 'aaaa2222-0000-4000-8000-000000000000',
    jobId: 'j12',
    host: 'https://gpu.example.org',
  });
  ledger.insert(short);
  ledger.insert(long);
  assert.deepEqual(ledger.find('j1'), [short]);
  assert.equal(ledger.find('aaaa').length, 2);
  assert.deepEqual(ledger.find('aaaa2'), [long]);
  assert.deepEqual(ledger.find('aaaa', 'https://gpu.example.org'), [long]);
  assert.deepEqual(ledger.find('%'), []);
  assert.deepEqual(ledger.find(''), []);
  assert.deepEqual(ledger.findJob('local', 'j1'), short);
  assert.equal(ledger.findJob('local', 'j12'), undefined);
});

test('a lease has one owner, can be renewed by it alone, and is free after its time', (t) => {
  let now = 1_000;
  const ledger = new JobLedger(tempHome(t), { now: () => now });
  t.after(() => ledger.dispose());
  assert.equal(ledger.claim('job', 'a', 100), true);
  assert.equal(ledger.claim('job', 'b', 100), false);
  assert.equal(ledger.claim('job', 'a', 100), true);
  assert.equal(ledger.renew('job', 'b', 100), false);
  now = 1_090;
  assert.equal(ledger.renew('job', 'a', 100), true);
  now = 1_150;
  assert.equal(ledger.claim('job', 'b', 100), false);
  now = 1_190;
  assert.equal(ledger.claim('job', 'b', 100), true);
  assert.equal(ledger.renew('job', 'a', 100), false);
  ledger.release('job', 'a');
  assert.equal(ledger.claim('job', 'a', 100), false);
  ledger.release('job', 'b');
  assert.equal(ledger.claim('job', 'a', 100), true);
});

test('an upload whose process is gone becomes unknown, one that runs does not', (t) => {
  const ledger = new JobLedger(tempHome(t));
  t.after(() => ledger.dispose());
  const [dead, alive] = [makeRecord({ state: 'sending', jobId: null }), makeRecord({ state: 'sending', jobId: null })];
  ledger.insert(dead);
  ledger.insert(alive);
  ledger.claim(alive.id, 'somebody', 60_000);
  assert.deepEqual(
    ledger.settleAbandoned().map(({ id }) => id),
    [dead.id],
  );
  assert.equal(ledger.get(dead.id)?.state, 'unknown');
  assert.match(ledger.get(dead.id)?.reason ?? '', /Check before you send it again/);
  assert.equal(ledger.get(alive.id)?.state, 'sending');
});

test('an upload whose process was killed is settled before its lease ends', async (t) => {
  const home = tempHome(t);
  const ledger = new JobLedger(home);
  t.after(() => ledger.dispose());
  const record = makeRecord({ state: 'sending', jobId: null });
  const elsewhere = makeRecord({ state: 'sending', jobId: null });
  for (const each of [record, elsewhere]) ledger.insert(each);
  const program = fileURLToPath(new URL('../../../../src/core/processes/processOwner.ts', import.meta.url));
  const print = `console.log((await import(${JSON.stringify(pathToFileURL(program).href)})).processOwner()); setInterval(() => {}, 1000)`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', print], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const [, ...rest] = line.trim().split('-');
  ledger.claim(record.id, line.trim(), 60_000);
  // The same process id on another machine that shares the folder is another process.
  ledger.claim(elsewhere.id, ['0123abcd', ...rest].join('-'), 60_000);
  assert.deepEqual(ledger.settleAbandoned(), []);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.deepEqual(
    ledger.settleAbandoned().map((settled) => [settled.id, settled.state]),
    [[record.id, 'unknown']],
  );
  const mark = await readChangeMark(home);
  assert.deepEqual(ledger.settleAbandoned(), []);
  assert.equal(await readChangeMark(home), mark, 'other windows have nothing to read');
});

test('the revision grows with records, also those of another connection, and not with leases', (t) => {
  const home = tempHome(t);
  const [mine, theirs] = [new JobLedger(home), new JobLedger(home)];
  t.after(() => [mine.dispose(), theirs.dispose()]);
  const before = mine.revision();
  theirs.claim('job', 'b', 1_000);
  assert.equal(mine.revision(), before);
  const record = makeRecord();
  theirs.insert(record);
  assert.ok(mine.revision() > before);
  assert.deepEqual(mine.get(record.id), record);
});

test('changes by another connection arrive and the watch ends with its signal', async (t) => {
  const home = tempHome(t);
  const [mine, theirs] = [new JobLedger(home), new JobLedger(home)];
  t.after(() => [mine.dispose(), theirs.dispose()]);
  // The watch itself keeps no process alive.
  const alive = setTimeout(() => {}, 2 ** 31 - 1);
  t.after(() => clearTimeout(alive));
  const stop = new AbortController();
  const seen: number[] = [];
  for await (const revision of ledgerChanges(directLedger(mine), { signal: stop.signal, intervalMs: 5 })) {
    seen.push(revision);
    if (seen.length === 3) stop.abort();
    else theirs.insert(makeRecord());
  }
  assert.deepEqual(seen, [0, 1, 2]);
});

test('a ledger at rest is read again only after a change by another process', async (t) => {
  const home = tempHome(t);
  const [mine, theirs] = [new JobLedger(home), new JobLedger(home)];
  t.after(() => [mine.dispose(), theirs.dispose()]);
  const alive = setTimeout(() => {}, 2 ** 31 - 1);
  t.after(() => clearTimeout(alive));
  const stop = new AbortController();
  let [reads, marks] = [0, 0];
  const ledger = { revision: async () => ((reads += 1), mine.revision()) };
  const record = makeRecord();
  const readMark = (): Promise<string | undefined> => {
    marks += 1;
    if (marks === 20) theirs.insert(record);
    if (marks === 40) theirs.update(record.id, { state: 'running' });
    if (marks === 60) theirs.remove(record.id);
    if (marks === 80) theirs.delete(record.id);
    if (marks === 100) stop.abort();
    return readChangeMark(home);
  };
  const seen: number[] = [];
  const resting = { isResting: () => true, readMark };
  for await (const revision of ledgerChanges(ledger, { signal: stop.signal, intervalMs: 1, resting }))
    seen.push(revision);
  assert.deepEqual([seen, reads], [[0, 1, 2, 3, 4], 5]);
});

test('the file is for its user only, also when it was not', { skip: process.platform === 'win32' }, (t) => {
  const home = join(tempHome(t), 'new');
  new JobLedger(home).dispose();
  assert.equal(statSync(home).mode & 0o777, 0o700);
  assert.equal(statSync(join(home, 'jobs.sqlite')).mode & 0o777, 0o600);
  const loose = tempHome(t);
  writeFileSync(join(loose, 'jobs.sqlite'), '', { mode: 0o644 });
  const ledger = new JobLedger(loose);
  ledger.insert(makeRecord());
  for (const name of readdirSync(loose)) assert.equal(statSync(join(loose, name)).mode & 0o777, 0o600, name);
  ledger.dispose();
});

test('a damaged file is moved aside and reported, and nothing of it is lost', (t) => {
  const home = tempHome(t);
  const rubbish = Buffer.alloc(8192, 'rubbish');
  writeFileSync(join(home, 'jobs.sqlite'), rubbish);
  const ledger = new JobLedger(home);
  assert.match(ledger.problem ?? '', /damaged.*jobs\.sqlite\.damaged-/);
  const record = makeRecord();
  ledger.insert(record);
  ledger.dispose();
  const aside = readdirSync(home).find((name) => name.includes('.damaged-'));
  assert.ok(aside);
  assert.deepEqual(readFileSync(join(home, aside)), rubbish);
  const again = new JobLedger(home);
  assert.equal(again.problem, undefined);
  assert.deepEqual(again.get(record.id), record);
  again.dispose();
});

test('a page damaged in the middle is noticed at opening', (t) => {
  const home = tempHome(t);
  const ledger = new JobLedger(home);
  for (let index = 0; index < 200; index += 1) ledger.insert(makeRecord({ lastLogLine: 'x'.repeat(500) }));
  ledger.dispose();
  const path = join(home, 'jobs.sqlite');
  const bytes = readFileSync(path);
  bytes.fill(0xa5, 4096 * 5, 4096 * 9);
  writeFileSync(path, bytes);
  const again = new JobLedger(home);
  assert.match(again.problem ?? '', /damaged/);
  again.dispose();
});

test('where no file can be used the ledger works in memory and says so', (t) => {
  const home = tempHome(t);
  mkdirSync(join(home, 'jobs.sqlite'));
  const ledger = new JobLedger(home);
  assert.match(ledger.problem ?? '', /cannot be used.*not recorded/);
  const record = makeRecord();
  ledger.insert(record);
  assert.deepEqual(ledger.list(), [record]);
  ledger.dispose();
  assert.ok(existsSync(join(home, 'jobs.sqlite')));
});

test('a file of a newer version is left alone', (t) => {
  const home = tempHome(t);
  new JobLedger(home).dispose();
  const database = new DatabaseSync(join(home, 'jobs.sqlite'));
  database.exec('PRAGMA user_version = 99');
  database.close();
  const ledger = new JobLedger(home);
  assert.match(ledger.problem ?? '', /newer version/);
  ledger.dispose();
  assert.deepEqual(
    readdirSync(home).filter((name) => name.includes('damaged')),
    [],
  );
});

test('two processes that open a new ledger together and insert at once lose nothing', async (t) => {
  const home = tempHome(t);
  const script = join(import.meta.dirname, 'insertMany.ts');
  const children = ['a', 'b'].map((name) =>
    spawn(process.execPath, [script, home, name, '100'], { stdio: ['ignore', 'inherit', 'inherit'] }),
  );
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as unknown));
  assert.deepEqual(codes, [0, 0]);
  const ledger = new JobLedger(home);
  t.after(() => ledger.dispose());
  assert.equal(ledger.problem, undefined);
  assert.equal(ledger.list({ limit: 1_000 }).length, 200);
  assert.equal(ledger.revision(), 400);
});

test('a ledger that is open keeps its lock when this process opens the file once more', (t) => {
  const home = tempHome(t);
  const [mine, another] = [new JobLedger(home), new JobLedger(home)];
  t.after(() => mine.dispose());
  const record = makeRecord();
  mine.insert(record);
  another.dispose();
  // Needs the file for itself, as the last process that closes it does before it deletes the journal.
  const program = `new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec('PRAGMA journal_mode = DELETE')`;
  const file = join(home, 'jobs.sqlite');
  const { status, stderr } = spawnSync(process.execPath, ['-e', program, file], { encoding: 'utf8' });
  assert.notEqual(status, 0);
  assert.match(stderr, /database is locked/);
  assert.deepEqual(mine.list(), [record]);
});
