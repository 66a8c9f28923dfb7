import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nearestRealPath } from '../../../../src/core/files/realPaths.ts';
import { temporaryFolder } from '../../workspace/temporaryFolder.ts';

test('a path without links is that of the file, or of the nearest folder above it that exists', async (t) => {
  if (process.platform === 'win32') return t.skip('making a link needs a right on Windows');
  const root = temporaryFolder(t);
  mkdirSync(join(root, 'real/inner'), { recursive: true });
  writeFileSync(join(root, 'real/file'), '');
  symlinkSync(join(root, 'real'), join(root, 'link'));
  assert.equal(await nearestRealPath(join(root, 'link/file')), join(root, 'real/file'));
  assert.equal(await nearestRealPath(join(root, 'link/inner/no/such/file')), join(root, 'real/inner'));
  assert.equal(await nearestRealPath('/no/such/file'), '/');
});

test('a path that leads through a file is an error of the system', async (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, '');
  await assert.rejects(nearestRealPath(join(file, 'inside')), { code: 'ENOTDIR' });
});
