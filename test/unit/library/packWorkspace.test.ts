import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AppError, packWorkspace } from '../../../src/library/remote.ts';
import { temporaryFolder, writeTree } from '../workspace/temporaryFolder.ts';

test('a folder is packed as a submit does it, with what the caller chose', async (t) => {
  const folder = temporaryFolder(t);
  const data = temporaryFolder(t);
  writeTree(folder, { 'train.py': 'x', '.gitignore': '*.bin\n', 'a.bin': 'a', 'notes.md': 'n', '.env': 'K=1' });
  writeTree(data, { '1.csv': '1' });
  symlinkSync(data, join(folder, 'data'));
  const dest = join(folder, 'workspace.tar.gz');
  const options = { include: ['data', '*.bin'], exclude: ['*.md'] };
  const packed = await packWorkspace(folder, dest, options);
  const names = execFileSync('tar', ['-tzf', dest], { encoding: 'utf8' }).trim().split('\n');
  assert.deepEqual(names, ['.gitignore', 'a.bin', 'data/1.csv', 'train.py']);
  assert.deepEqual(
    packed.files.map(({ path }) => path),
    names,
  );
  assert.equal(packed.bytes, readFileSync(dest).length);
  assert.deepEqual(
    packed.excluded.map(({ path, reason }) => `${path} ${reason}`),
    ['.env secret', 'notes.md user'],
  );
  assert.deepEqual(
    packed.findings.map(({ type, target }) => [type, target]),
    [['link', data]],
  );
  // The archive of the last call is not packed into the next one, which therefore has the same bytes.
  const before = readFileSync(dest);
  await packWorkspace(folder, dest, { ...options, isTrusted: false });
  assert.deepEqual(readFileSync(dest), before);
});

test('a folder without a file to send and a choice that matches nothing are errors of the library', async (t) => {
  const folder = temporaryFolder(t);
  const dest = join(folder, 'a.tar.gz');
  for (const [options, code] of [
    [{}, 'bad-input'],
    [{ include: ['*.csv'] }, 'missing'],
  ] as const) {
    await assert.rejects(
      packWorkspace(folder, dest, options),
      (error) => error instanceof AppError && error.code === code,
    );
  }
});
