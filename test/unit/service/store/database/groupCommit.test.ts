import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { openDatabase } from '../../../../../src/service/store/database/database.ts';
import { GroupCommit } from '../../../../../src/service/store/database/groupCommit.ts';

function open(t: TestContext): { database: DatabaseSync; commits: GroupCommit; notes: () => unknown[] } {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-commit-'));
  const database = openDatabase(join(folder, 'service.db'));
  t.after(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  database.exec('CREATE TABLE notes (text TEXT NOT NULL)');
  const notes = (): unknown[] =>
    database
      .prepare('SELECT text FROM notes')
      .all()
      .map((row) => row['text']);
  return { database, commits: new GroupCommit(database), notes };
}

test('changes asked for together share a transaction, and each gets its own result once that is kept', async (t) => {
  const { database, commits, notes } = open(t);
  const isShared: boolean[] = [];
  const note = (text: string) =>
    commits.run(() => {
      isShared.push(database.isTransaction);
      database.prepare('INSERT INTO notes VALUES (?)').run(text);
      return text.length;
    });
  const pending = Promise.all([note('a'), note('bb'), note('ccc')]);
  assert.deepEqual(notes(), [], 'nothing is written before its turn');
  assert.deepEqual(await pending, [1, 2, 3]);
  assert.equal(database.isTransaction, false);
  assert.deepEqual(isShared, [true, true, true]);
  assert.deepEqual(notes(), ['a', 'bb', 'ccc']);
});

test('a change that fails is undone alone', async (t) => {
  const { database, commits, notes } = open(t);
  const insert = database.prepare('INSERT INTO notes VALUES (?)');
  const outcomes = await Promise.allSettled([
    commits.run(() => insert.run('kept')),
    commits.run(() => {
      insert.run('undone');
      throw new Error('no');
    }),
    commits.run(() => insert.run('kept too')),
  ]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(notes(), ['kept', 'kept too']);
});

test('a transaction that cannot be kept fails every change in it', async (t) => {
  const { database, commits, notes } = open(t);
  database.exec('PRAGMA foreign_keys = ON');
  database.exec('CREATE TABLE child (id INTEGER REFERENCES jobs (number) DEFERRABLE INITIALLY DEFERRED)');
  const outcomes = await Promise.allSettled([
    commits.run(() => database.prepare('INSERT INTO notes VALUES (?)').run('lost')),
    commits.run(() => database.prepare('INSERT INTO child VALUES (99)').run()),
  ]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.deepEqual(notes(), []);
});

test('what waits is durable after a flush', (t) => {
  const { database, commits, notes } = open(t);
  void commits.run(() => database.prepare('INSERT INTO notes VALUES (?)').run('now'));
  commits.flush();
  assert.deepEqual(notes(), ['now']);
});

test('after a slow commit the next changes gather before they are written', async (t) => {
  const { database, commits, notes } = open(t);
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const pass = (milliseconds: number): void => {
    now += milliseconds;
    t.mock.timers.tick(milliseconds);
  };
  const note = (text: string) => commits.run(() => database.prepare('INSERT INTO notes VALUES (?)').run(text));
  const slow = commits.run(() => (now += 15));
  pass(1);
  await slow;
  const first = note('first');
  pass(44);
  assert.deepEqual(notes(), [], 'more may come');
  const second = note('second');
  pass(1);
  await Promise.all([first, second]);
  assert.deepEqual(notes(), ['first', 'second']);
});

test('a change that rolls everything back, as a full disk does, fails every change with its error', async (t) => {
  const { database, commits, notes } = open(t);
  const outcomes = await Promise.allSettled([
    commits.run(() => database.prepare('INSERT INTO notes VALUES (?)').run('lost')),
    commits.run(() => {
      database.exec('ROLLBACK');
      throw new Error('full');
    }),
  ]);
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status === 'rejected' && String(outcome.reason)),
    ['Error: full', 'Error: full'],
  );
  assert.deepEqual([notes(), database.isTransaction], [[], false]);
});
