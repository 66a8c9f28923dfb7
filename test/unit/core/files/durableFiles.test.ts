import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { syncFile, syncFolder, syncFolderSync } from '../../../../src/core/files/durableFiles.ts';
import { cannotListOpenFiles, openFilesIn } from '../../openFiles.ts';
import { temporaryFolder } from '../../workspace/temporaryFolder.ts';

test('a file and a folder are made durable, and stay open for nobody', { skip: cannotListOpenFiles }, async (t) => {
  const root = temporaryFolder(t);
  const [file, folder] = [join(root, 'file'), join(root, 'folder')];
  writeFileSync(file, 'text');
  mkdirSync(folder);
  await syncFile(file);
  await syncFolder(folder);
  syncFolderSync(folder);
  assert.deepEqual(openFilesIn(root), []);
});

test('what is missing cannot be made durable', async (t) => {
  const missing = join(temporaryFolder(t), 'missing');
  await assert.rejects(syncFile(missing), { code: 'ENOENT' });
  if (process.platform === 'win32') return;
  await assert.rejects(syncFolder(missing), { code: 'ENOENT' });
  assert.throws(() => syncFolderSync(missing), { code: 'ENOENT' });
});
