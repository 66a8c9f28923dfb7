import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { inTransaction, openDatabase } from '../../../../../src/service/store/database/database.ts';

function storePath(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'service.db');
}

test('a store that another service holds is a conflict, until that one closes it', (t) => {
  const path = storePath(t);
  const holder = openDatabase(path);
  assert.throws(() => openDatabase(path), { code: 'conflict', message: /Another job service uses/ });
  holder.close();
  openDatabase(path).close();
});

test('a damaged store is refused, and the message names its path', (t) => {
  const path = storePath(t);
  writeFileSync(path, 'no database at all '.repeat(100), { mode: 0o600 });
  assert.throws(
    () => openDatabase(path),
    ({ code, message }: Error & { code: string }) => code === 'corrupt' && message.includes(`${path} cannot be used`),
  );
});

test('a store of a later version is refused, and stays as it was', (t) => {
  const path = storePath(t);
  openDatabase(path).close();
  const later = new DatabaseSync(path);
  later.exec('PRAGMA user_version = 9999');
  later.close();
  assert.throws(() => openDatabase(path), { code: 'corrupt', message: /later version of Farwharf/ });
  const unchanged = new DatabaseSync(path);
  assert.equal(unchanged.prepare('PRAGMA user_version').get()?.['user_version'], 9999);
  unchanged.close();
});

test('the folder and the files of a store are for this user only', { skip: process.platform === 'win32' }, (t) => {
  const path = storePath(t);
  chmodSync(dirname(path), 0o755);
  openDatabase(path).close();
  assert.equal(statSync(path).mode & 0o777, 0o600);
  chmodSync(path, 0o644);
  const database = openDatabase(path);
  const modes = [dirname(path), path, `${path}-wal`].map((file) => statSync(file).mode & 0o777);
  database.close();
  assert.deepEqual(modes, [0o700, 0o600, 0o600]);
});

test('a transaction within another is undone alone, and with the outer one', (t) => {
  const database = openDatabase(storePath(t));
  t.after(() => database.close());
  database.exec('CREATE TABLE notes (text TEXT)');
  const note = (text: string): void => void database.prepare('INSERT INTO notes VALUES (?)').run(text);
  const failing = (text: string) => () => {
    note(text);
    throw new Error(text);
  };
  const result = inTransaction(database, () => {
    note('outer');
    assert.throws(() => inTransaction(database, failing('inner')), /^Error: inner$/);
    return inTransaction(database, () => 'result');
  });
  const failed = (): void =>
    inTransaction(database, () => {
      inTransaction(database, () => note('lost'));
      failing('last')();
    });
  assert.throws(failed, /^Error: last$/);
  const notes = database.prepare('SELECT text FROM notes').all();
  assert.deepEqual([result, notes.map(({ text }) => text), database.isTransaction], ['result', ['outer'], false]);
});

test('a store of which others can write a file is not opened', { skip: process.platform === 'win32' }, (t) => {
  const path = storePath(t);
  openDatabase(path).close();
  for (const file of [path, `${path}.v1`]) {
    writeFileSync(file, '', { flag: 'a' });
    chmodSync(file, 0o602);
    assert.throws(() => openDatabase(path), { code: 'refused' }, file);
    chmodSync(file, 0o600);
  }
  writeFileSync(join(dirname(path), 'other'), '');
  chmodSync(join(dirname(path), 'other'), 0o602);
  openDatabase(path).close();
});
