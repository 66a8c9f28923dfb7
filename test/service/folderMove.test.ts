import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger } from '../../src/core/log.ts';
import { claimFilesFolder, filesFolderOf } from '../../src/service/folders/filesFolder.ts';
import { moveFiles, moveStore } from '../../src/service/folders/moveFolders.ts';
import { openLocked } from '../../src/service/store/database/database.ts';
import { Store } from '../../src/service/store/store.ts';
import { temporaryFolder } from './support/service.ts';

const KILLS = 24;
const ACCOUNTS = 100;
const MOVER = join(import.meta.dirname, 'support/storeMover.ts');

/** A store as an earlier version left it in a shared folder, with the copy that an upgrade made. */
function makeOldFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const store = new Store(folder);
  for (let number = 0; number < ACCOUNTS; number += 1) {
    store.addAccount({ id: `account-${number}`, name: 'x'.repeat(2_000), plan: 'lab', createdAt: 1 });
  }
  store.grant('account-7', { amount: 5_000_000, reference: 'start', note: null, at: 1 });
  store.dispose();
  writeFileSync(join(folder, 'service.db.v1'), 'of an earlier version', { mode: 0o644 });
}

function assertMoved(from: string, data: string): void {
  const store = new Store(data);
  store.file.check();
  assert.equal(store.accounts.list().length, ACCOUNTS + 1);
  assert.equal(store.balances('account-7').available, 5_000_000);
  store.dispose();
  assert.deepEqual(readdirSync(from), []);
  assert.deepEqual(
    readdirSync(data).filter((name) => !/^service\.db(-wal|-shm|\.v1)?$/.test(name)),
    [],
  );
  assert.ok(existsSync(join(data, 'service.db.v1')));
}

/** Moves a store in a process that is killed after a while, unless it is done before. */
async function moveAndKill(from: string, data: string, afterMs: number | undefined): Promise<number> {
  const child = spawn(process.execPath, [MOVER, from, data], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  const startedAt = performance.now();
  if (afterMs !== undefined) {
    await Promise.race([exited, sleep(afterMs)]);
    child.kill('SIGKILL');
  }
  await exited;
  return performance.now() - startedAt;
}

test('a store that is carried over is whole in one place, wherever the move is killed', async (t) => {
  const folder = await temporaryFolder(t);
  const template = join(folder, 'template');
  makeOldFolder(template);
  const first = { from: join(folder, 'old'), data: join(folder, 'new') };
  cpSync(template, first.from, { recursive: true });
  const took = await moveAndKill(first.from, first.data, undefined);
  assertMoved(first.from, first.data);
  const interrupted = new Set<string>();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const [from, data] = [join(folder, `old-${kill}`), join(folder, `new-${kill}`)];
    cpSync(template, from, { recursive: true });
    await moveAndKill(from, data, (took * kill) / KILLS);
    interrupted.add([...readdirSync(from), '|', ...(existsSync(data) ? readdirSync(data) : [])].join(' '));
    await moveStore(from, data, silentLogger);
    assertMoved(from, data);
    for (const path of [from, data]) rmSync(path, { recursive: true });
  }
  t.diagnostic(`${interrupted.size} different states after a kill within ${took.toFixed()} ms`);
});

test('a store that was given up is finished by who has its copy, and refused to everybody else', async (t) => {
  const folder = await temporaryFolder(t);
  const [from, data, other] = ['old', 'new', 'other'].map((name) => join(folder, name)) as [string, string, string];
  makeOldFolder(from);
  // What a kill after the old store was given up leaves: the copy under its first name.
  {
    const before = new Store(from);
    mkdirSync(data);
    await before.file.copyTo(join(data, 'service.db.moving'));
    before.dispose();
    writeFileSync(join(data, 'service.db.v1'), 'of an earlier version');
    const old = openLocked(join(from, 'service.db'));
    old.exec("CREATE TABLE moved_to (data TEXT NOT NULL) STRICT; INSERT INTO moved_to VALUES ('/the/new/place')");
    old.exec('PRAGMA user_version = 1000000000');
    old.close();
  }
  assert.throws(() => new Store(from), /later version/);
  await assert.rejects(moveStore(from, other, silentLogger), { code: 'missing', message: /--data \/the\/new\/place/ });
  await moveStore(from, data, silentLogger);
  assertMoved(from, data);
});

test('two stores are not made one: the start says where they are and changes neither', async (t) => {
  const folder = await temporaryFolder(t);
  const [from, data] = [join(folder, 'old'), join(folder, 'new')];
  for (const path of [from, data]) new Store(path).dispose();
  await assert.rejects(moveStore(from, data, silentLogger), (error: Error) => {
    return error.message.includes(from) && error.message.includes(data) && /Move the one/.test(error.message);
  });
  for (const path of [from, data]) new Store(path).dispose();
});

test("one folder of jobs' files belongs to one service, and a file system that is not mounted is noticed", async (t) => {
  const folder = await temporaryFolder(t);
  const [data, other, shared, moved] = ['data', 'other', 'shared', 'moved'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const path of [data, other]) mkdirSync(path);
  claimFilesFolder(data, shared);
  claimFilesFolder(data, shared);
  // Killed before the folder was marked, and before that was written down.
  for (const isMarked of [false, true]) {
    const record = JSON.parse(readFileSync(join(data, 'files.json'), 'utf8')) as object;
    writeFileSync(join(data, 'files.json'), JSON.stringify({ ...record, isClaimed: false }));
    if (!isMarked) rmSync(join(shared, 'farwharf.json'));
    claimFilesFolder(data, shared);
  }
  assert.equal(filesFolderOf(data), shared);
  assert.throws(() => claimFilesFolder(other, shared), { code: 'conflict', message: /another service's jobs/ });
  // Empty, as a mount point is.
  rmSync(shared, { recursive: true });
  mkdirSync(shared);
  for (const find of [() => filesFolderOf(data), () => claimFilesFolder(data, shared)]) {
    assert.throws(find, { code: 'missing', message: /may not be mounted/ });
  }
  assert.throws(() => claimFilesFolder(data, moved), { code: 'conflict', message: /Move that folder to/ });
});

test('files of jobs leave the data folder for the shared one, and a job that runs there is not lost sight of', async (t) => {
  const folder = await temporaryFolder(t);
  const [data, shared] = [join(folder, 'data'), join(folder, 'shared')];
  const options = { unfinished: [], log: silentLogger };
  const files = join(data, 'jobs', 'a-job');
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, 'results.tar.gz'), 'results');
  await moveFiles(data, shared, options);
  assert.deepEqual(readdirSync(join(shared, 'jobs', 'a-job')), ['results.tar.gz']);
  assert.ok(!existsSync(join(data, 'jobs')));
  await moveFiles(data, shared, options);

  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, 'claim.json'), '{}');
  const unfinished = [{ id: 'a-job' }];
  await assert.rejects(moveFiles(data, shared, { ...options, unfinished }), {
    code: 'conflict',
    message: /executor = "process"/,
  });
  assert.ok(existsSync(join(files, 'claim.json')));
});
