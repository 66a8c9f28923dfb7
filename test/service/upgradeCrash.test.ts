import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MIGRATIONS } from '../../src/service/store/database/migrations.ts';
import { Store } from '../../src/service/store/store.ts';
import { temporaryFolder } from './support/service.ts';

const VERSION_1 = readFileSync(join(import.meta.dirname, '../fixtures/storeVersion1.sql'), 'utf8');
const STORE = join(import.meta.dirname, '../../src/service/store/store.ts');
const STATES = ['queued', 'starting', 'running', 'succeeded', 'failed', 'cancelled', 'timed_out', 'lost'] as const;
const JOBS = 16_000;

/** A data folder as version 1 left it, after many jobs in each state with their events and credits. */
async function largeOldFolder(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  const database = new DatabaseSync(join(folder, 'service.db'));
  database.exec(VERSION_1);
  const job = database.prepare(
    `INSERT INTO jobs (id, state, script, machine_class, max_runtime, created_at, finished_at, hold, charged)
      VALUES (?, ?, 'a.sh', 'cpu', 60, 1767268000000, ?, 100, ?)`,
  );
  const event = database.prepare("INSERT INTO events VALUES (?, ?, 'log', ?)");
  const transaction = database.prepare('INSERT INTO credit_transactions (kind, reference, at) VALUES (?, ?, 0)');
  const entry = database.prepare('INSERT INTO credit_entries VALUES (?, ?, ?)');
  database.exec('BEGIN');
  for (let index = 0; index < JOBS; index += 1) {
    const state = STATES[index % STATES.length] ?? 'queued';
    const isOver = index % STATES.length > 2;
    const { lastInsertRowid: number } = job.run(
      `job-${index}`,
      state,
      isOver ? 1_767_268_900_000 : null,
      isOver ? 40 : null,
    );
    for (let id = 1; id <= 3; id += 1) event.run(number, id, JSON.stringify({ stream: 'stdout', text: `line ${id}` }));
    const { lastInsertRowid: hold } = transaction.run('hold', `job-${index}`);
    entry.run(hold, 'local:available', -100);
    entry.run(hold, 'local:held', 100);
    if (!isOver) continue;
    const { lastInsertRowid: settle } = transaction.run('settle', `job-${index}`);
    entry.run(settle, 'local:held', -100);
    entry.run(settle, 'local:available', 60);
    entry.run(settle, 'local:spent', 40);
  }
  database.exec('COMMIT');
  database.close();
  return folder;
}

function valueIn(path: string, sql: string): unknown {
  const database = new DatabaseSync(path);
  try {
    return Object.values(database.prepare(sql).get() ?? {})[0];
  } finally {
    database.close();
  }
}

/** Opens the store in a process of its own, which is killed so many milliseconds after it begins; Infinity lets it end. */
async function openAndKill(folder: string, afterMs: number): Promise<number> {
  const program = `const { Store } = await import(process.argv[1]); process.stdout.write('begin');
    const before = performance.now(); new Store(process.argv[2]).dispose(); process.stdout.write(String(performance.now() - before));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, STORE, folder], {
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  const exited = once(child, 'close');
  await once(child.stdout, 'data');
  if (Number.isFinite(afterMs)) {
    await Promise.race([sleep(afterMs), exited]);
    child.kill('SIGKILL');
  }
  await exited;
  return Number(printed.slice('begin'.length));
}

test('an upgrade that is killed leaves the old store or the new one, and the next start has all of it', async (t) => {
  const original = await largeOldFolder(t);
  const folder = join(original, 'data');
  const path = join(folder, 'service.db');
  const begin = (): void => {
    rmSync(folder, { recursive: true, force: true });
    cpSync(join(original, 'service.db'), path);
  };
  begin();
  const tookMs = await openAndKill(folder, Number.POSITIVE_INFINITY);
  const seen = new Map<number, number>();
  // On a busy machine the kills come late; then there are more of them.
  for (let kill = 0; kill < 12 || !seen.has(1); kill += 1) {
    begin();
    await openAndKill(folder, (tookMs * (kill % 12)) / 11);
    const version = Number(valueIn(path, 'PRAGMA user_version'));
    seen.set(version, (seen.get(version) ?? 0) + 1);
    assert.equal(valueIn(path, 'PRAGMA integrity_check'), 'ok');
    assert.equal(valueIn(path, "SELECT count(*) FROM jobs WHERE id LIKE 'job-%'"), JOBS);
    if (kill % 4 !== 0) continue;
    // Checks the ledger, too.
    const store = new Store(folder);
    assert.equal(store.unfinished.count, (JOBS * 3) / 8 + 1);
    assert.equal(store.balances('local').spent, (JOBS * 5 * 40) / 8 + 18_334);
    store.dispose();
    assert.equal(valueIn(path, 'PRAGMA user_version'), MIGRATIONS.length);
    assert.equal(
      valueIn(path, "SELECT count(*) FROM events JOIN jobs ON jobs.number = job WHERE jobs.id LIKE 'job-%'"),
      JOBS * 3,
    );
  }
  t.diagnostic(`the upgrade takes ${tookMs.toFixed(0)} ms; versions found after a kill: ${JSON.stringify([...seen])}`);
  assert.deepEqual(new Set([1, MIGRATIONS.length]).union(new Set(seen.keys())).size, 2, 'old or new');
});

test('before an upgrade the store is copied, for this user only, and the copy is a whole store of the old version', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'service.db');
  const old = new DatabaseSync(path);
  old.exec(VERSION_1);
  old.close();
  new Store(folder).dispose();
  const copy = `${path}.v1`;
  assert.equal(statSync(copy).mode & 0o777, 0o600);
  assert.ok(!existsSync(`${copy}.tmp`));
  assert.equal(valueIn(copy, 'PRAGMA user_version'), 1);
  assert.equal(valueIn(copy, 'PRAGMA integrity_check'), 'ok');
  assert.equal(valueIn(copy, 'SELECT count(*) FROM jobs'), 3);
  const { mtimeMs } = statSync(copy);
  new Store(folder).dispose();
  assert.equal(statSync(copy).mtimeMs, mtimeMs, 'nothing is copied where nothing is upgraded');
});

test('a store of a later version is refused and not touched', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'service.db');
  new Store(folder).dispose();
  const database = new DatabaseSync(path);
  database.exec('PRAGMA user_version = 99');
  database.close();
  assert.throws(() => new Store(folder), {
    code: 'corrupt',
    message: /later version of Farwharf, .* at least version 99 .* Update this program\.$/,
  });
  assert.equal(valueIn(path, 'PRAGMA user_version'), 99);
});

test('what was released as version 1 has not changed since', () => {
  const schema = VERSION_1.slice(0, VERSION_1.indexOf('INSERT INTO'));
  const [first = ''] = MIGRATIONS;
  const plain = (sql: string): string => sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim();
  assert.ok(plain(schema).includes(plain(first)), 'the first step is what the fixture was made with');
});
