import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { StoreFile } from '../../../../../src/service/store/database/storeFile.ts';
import { storeOf } from '../storeOf.ts';

test('a copy has what was stored, for this user only, and replaces nothing', async (t) => {
  const { folder, store, add } = storeOf(t);
  await Promise.all(Array.from({ length: 300 }, (_, index) => add(`job-${index}`, { script: 'x'.repeat(5_000) })));
  const path = join(folder, 'copy.db');
  await store.file.copyTo(path);
  if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o777, 0o600);
  const copy = new DatabaseSync(path, { readOnly: true });
  t.after(() => copy.close());
  assert.deepEqual({ ...copy.prepare('SELECT count(*) AS count FROM jobs').get() }, { count: 300 });
  new StoreFile(copy).check();
  const taken = join(folder, 'taken');
  writeFileSync(taken, 'mine');
  await assert.rejects(store.file.copyTo(taken), { code: 'EEXIST' });
  assert.equal(readFileSync(taken, 'utf8'), 'mine');
});

test('a store that can be written is, with no change, and one that cannot be is an error', async (t) => {
  const { folder, store, add } = storeOf(t);
  await add('a');
  store.file.probe();
  const copy = join(folder, 'copy.db');
  await store.file.copyTo(copy);
  const version = (file: DatabaseSync) => file.prepare('PRAGMA user_version').get()?.['user_version'];
  const [written, unwritable] = [new DatabaseSync(copy), new DatabaseSync(copy, { readOnly: true })];
  t.after(() => [written, unwritable].forEach((each) => each.close()));
  const before = version(written);
  assert.notEqual(before, 0);
  new StoreFile(written).probe();
  assert.equal(version(written), before);
  assert.throws(() => new StoreFile(unwritable).probe(), /readonly/);
});

test('a damaged page is found by a check', async (t) => {
  const { folder, store, add } = storeOf(t);
  await Promise.all(Array.from({ length: 50 }, (_, index) => add(`job-${index}`, { script: 'x'.repeat(5_000) })));
  store.file.check();
  const path = join(folder, 'copy.db');
  await store.file.copyTo(path);
  const bytes = readFileSync(path);
  const at = bytes.indexOf('x'.repeat(3_000));
  bytes.fill(0xff, at - (at % 4_096), at - (at % 4_096) + 8);
  writeFileSync(path, bytes);
  const damaged = new DatabaseSync(path, { readOnly: true });
  t.after(() => damaged.close());
  assert.throws(() => new StoreFile(damaged).check(), { code: 'corrupt', message: /^The store is damaged: [^]+\.$/ });
});
