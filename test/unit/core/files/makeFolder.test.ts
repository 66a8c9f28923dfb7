import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeFolder } from '../../../../src/core/files/makeFolder.ts';

const base = mkdtempSync(join(tmpdir(), 'farwharf-folder-'));
after(() => rmSync(base, { recursive: true }));

test('a folder is created with those above it, for this user only, and creating it again changes nothing', () => {
  const folder = join(base, 'a', 'b', 'c');
  makeFolder(folder);
  writeFileSync(join(folder, 'file'), 'kept');
  makeFolder(folder);
  assert.equal(statSync(join(folder, 'file')).size, 4);
  if (process.platform !== 'win32') assert.equal(statSync(join(base, 'a')).mode & 0o777, 0o700);
});

test('where the system refuses to create a folder its reason is reported, not that the folder is missing', (t) => {
  if (process.platform !== 'linux') return t.skip('NOT TESTED: only Linux has a folder that refuses everyone');
  // Nobody may create a folder in /proc, root included.
  assert.throws(
    () => makeFolder('/proc/farwharf/a/b'),
    (error: Error) => error.message.endsWith(`mkdir '/proc/farwharf'`),
  );
});

test('a file where the folder should be, or above it, is the error of the system', () => {
  const file = join(base, 'file');
  writeFileSync(file, '');
  assert.throws(() => makeFolder(file), { code: 'EEXIST' });
  assert.throws(() => makeFolder(join(file, 'inside')), { code: 'ENOTDIR' });
});
