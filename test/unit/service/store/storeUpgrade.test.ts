import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { MIGRATIONS } from '../../../../src/service/store/database/migrations.ts';
import { Store } from '../../../../src/service/store/store.ts';

const VERSION_1 = readFileSync(join(import.meta.dirname, '../../../fixtures/storeVersion1.sql'), 'utf8');

/** A data folder whose store was left by version 1. */
async function oldFolder(t: TestContext, change = ''): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-upgrade-'));
  t.after(() => rm(folder, { recursive: true }));
  const database = new DatabaseSync(join(folder, 'service.db'));
  database.exec(VERSION_1 + change);
  database.close();
  return folder;
}

/** Tables and columns that no migration makes, with the version that a store with them needs at least; 0 for what restricts nobody. */
const DECLARED: Readonly<Record<string, number>> = {
  'accounts.group_name': 3,
  'accounts.max_disk_bytes': 4,
  'accounts.max_run_time': 4,
  'api_keys.budget': 3,
  'api_keys.scopes': 3,
  audit: 0,
  budgets: 3,
  drain: 3,
  identities: 0,
  'secrets.redacts_results': 5,
  'jobs.cancel_reason': 0,
  'jobs.command': 0,
  'jobs.debug': 0,
  'jobs.executor_id': 0,
  'jobs.frozen': 0,
  'jobs.frozen_ms': 0,
  'jobs.group_name': 3,
  'jobs.hold_seconds': 0,
  'jobs.key_id': 3,
  'jobs.stop_reason': 0,
  'jobs.unpriced_cpus': 0,
  'jobs.unpriced_gpus': 0,
  reserve: 0,
  retention: 0,
  secrets: 0,
};

function open(folder: string): Store & Disposable {
  const store = new Store(folder, 1_000_000);
  return Object.assign(store, { [Symbol.dispose]: () => store.dispose() });
}

test('a store of version 1 keeps its jobs, events and credits, as those of the account local', async (t) => {
  using store = open(await oldFolder(t));
  const jobs = store.jobs.list('local', 10);
  assert.deepEqual(
    jobs.map(({ id, account, state, hold, charged }) => ({ id, account, state, hold, charged })),
    [
      { id: 'waiting', account: 'local', state: 'queued', hold: 200_000, charged: null },
      { id: 'broken', account: 'local', state: 'failed', hold: 100_000, charged: 1_667 },
      { id: 'ended', account: 'local', state: 'succeeded', hold: 100_000, charged: 16_667 },
    ],
  );
  const ended = store.jobs.find('local', 'ended');
  assert.ok(ended);
  assert.deepEqual(
    store.events.page(ended.number, 0, 100_000).map(({ id, type }) => [id, type]),
    [
      [1, 'state'],
      [2, 'log'],
      [3, 'end'],
    ],
  );
  assert.deepEqual(store.balances('local'), { available: 9_800_000, held: 200_000, spent: 18_334 });
});

test('an upgraded store works: the waiting job is settled once, and the first credits are not granted again', async (t) => {
  const folder = await oldFolder(t);
  const store = open(folder);
  const waiting = store.jobs.get('waiting');
  assert.ok(waiting);
  const ending = {
    state: 'succeeded',
    finishedAt: 1_767_268_900_000,
    exitCode: 0,
    reason: null,
    charged: 50_000,
  } as const;
  store.finish(waiting, ending, []);
  store.finish(waiting, ending, []);
  assert.deepEqual(store.balances('local'), { available: 9_950_000, held: 0, spent: 68_334 });
  store.addAccount({ id: 'lab', name: 'The lab', plan: 'team', createdAt: 0 });
  store.grant('lab', { reference: 'start', amount: 5_000, at: 0 });
  assert.equal(store.balances('lab').available, 5_000);
  store.dispose();
  // The check at the start finds the ledger in balance, and the second start changes nothing.
  using again = open(folder);
  assert.equal(again.balances('local').available, 9_950_000);
});

test('a table of jobs that lacks a declared column gets it, and its jobs have null there', async (t) => {
  const folder = await oldFolder(t);
  open(folder).dispose();
  const database = new DatabaseSync(join(folder, 'service.db'));
  database.exec("UPDATE jobs SET project = 'lost'; DROP INDEX jobs_of_projects; ALTER TABLE jobs DROP COLUMN project");
  database.close();
  using store = open(folder);
  assert.deepEqual(
    store.jobs.list('local', 10).map(({ project }) => project),
    [null, null, null],
  );
  const job = {
    id: 'new',
    account: 'local',
    script: 'a.sh',
    machineClass: 'local',
    maxRuntime: 1,
    createdAt: 0,
    hold: 0,
  };
  await store.submit({ ...job, project: 'kept' }, [], { spec: '{}', archive: null, boot: '' });
  assert.equal(store.jobs.get('new')?.project, 'kept');
});

test('a store with rows that belong to nothing is not upgraded, and stays as it was', async (t) => {
  const folder = await oldFolder(t, "PRAGMA foreign_keys = OFF; INSERT INTO events VALUES (77, 1, 'log', '{}');");
  assert.throws(() => new Store(folder), { code: 'corrupt', message: /without their parent rows/ });
  const database = new DatabaseSync(join(folder, 'service.db'));
  t.after(() => database.close());
  assert.deepEqual({ ...database.prepare('PRAGMA user_version').get() }, { user_version: 1 });
});

test('before an upgrade, a copy of the store is kept beside it, and at no other start', async (t) => {
  const folder = await oldFolder(t);
  const copies = (): string[] => readdirSync(folder).filter((name) => name.startsWith('service.db.'));
  open(folder).dispose();
  assert.deepEqual(copies(), ['service.db.v1']);
  const copy = new DatabaseSync(join(folder, 'service.db.v1'), { readOnly: true });
  assert.deepEqual({ ...copy.prepare('PRAGMA user_version').get() }, { user_version: 1 });
  copy.close();
  rmSync(join(folder, 'service.db.v1'));
  open(folder).dispose();
  assert.deepEqual(copies(), []);
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  open(folder).dispose();
  assert.deepEqual(copies(), [], 'a new store');
});

test('a store that only lacks a column or a table is copied before that is added', async (t) => {
  const folder = await oldFolder(t);
  open(folder).dispose();
  const copy = join(folder, `service.db.v${MIGRATIONS.length}`);
  for (const sql of ['ALTER TABLE jobs DROP COLUMN executor_id', 'DROP TABLE retention']) {
    const database = new DatabaseSync(join(folder, 'service.db'));
    database.exec(sql);
    database.close();
    rmSync(copy, { force: true });
    open(folder).dispose();
    assert.ok(existsSync(copy), sql);
    rmSync(copy);
    open(folder).dispose();
    assert.ok(!existsSync(copy), 'nothing was added the second time');
  }
});

test('of all that no migration makes, it is known whether it restricts, and since which version of the store', async (t) => {
  const folder = await oldFolder(t);
  open(folder).dispose();
  const schema = (database: DatabaseSync): string[] => {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    return tables.flatMap(({ name }) =>
      database
        .prepare(`PRAGMA table_info(${String(name)})`)
        .all()
        .map((column) => `${String(name)}.${String(column['name'])}`),
    );
  };
  const plain = new DatabaseSync(':memory:');
  for (const step of MIGRATIONS) plain.exec(step);
  const migrated = new Set(schema(plain));
  const database = new DatabaseSync(join(folder, 'service.db'));
  const declared = schema(database).filter((name) => !migrated.has(name));
  database.close();
  const found = declared.map((name) => DECLARED[name] ?? DECLARED[name.replace(/\..*/, '')]);
  const unknown = declared.filter((_, index) => found[index] === undefined);
  assert.deepEqual(unknown, [], 'what restricts needs a step of MIGRATIONS; add it here with the number of the step');
  for (const since of Object.values(DECLARED)) assert.ok(since <= MIGRATIONS.length);
});
