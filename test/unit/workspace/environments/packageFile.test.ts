import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readPackageFile } from '../../../../src/workspace/environments/packageFile.ts';
import { temporaryFolder, writeTree } from '../temporaryFolder.ts';

test('a list of packages is read by its path in the folder, also through a link inside', async (t) => {
  const root = temporaryFolder(t);
  writeTree(root, { 'deps/base.txt': 'numpy\n' });
  assert.deepEqual(await readPackageFile(root, './deps/../deps/base.txt'), { path: 'deps/base.txt', text: 'numpy\n' });
  if (process.platform === 'win32') return;
  symlinkSync('deps/base.txt', join(root, 'link.txt'));
  assert.deepEqual(await readPackageFile(root, 'link.txt'), { path: 'link.txt', text: 'numpy\n' });
});

test('what is missing, a folder, or outside of the folder is missing', async (t) => {
  const outside = temporaryFolder(t);
  const root = join(outside, 'root');
  mkdirSync(join(root, 'deps'), { recursive: true });
  writeFileSync(join(outside, 'secret.txt'), 'secret');
  const paths = ['none.txt', 'deps', '../secret.txt', '.'];
  if (process.platform !== 'win32') {
    symlinkSync('../secret.txt', join(root, 'link.txt'));
    paths.push('link.txt');
  }
  for (const path of paths) {
    await assert.rejects(readPackageFile(root, path), {
      code: 'missing',
      message: `The folder has no ${path}. Add it or correct "requirements", then submit again.`,
    });
  }
});

test('a list of packages may have 32 MB and no more', async (t) => {
  const root = temporaryFolder(t);
  writeTree(root, { 'uv.lock': '' });
  truncateSync(join(root, 'uv.lock'), 32e6);
  assert.equal((await readPackageFile(root, 'uv.lock')).text.length, 32e6);
  truncateSync(join(root, 'uv.lock'), 32e6 + 1);
  await assert.rejects(readPackageFile(root, 'uv.lock'), {
    code: 'bad-input',
    message: /^uv\.lock has 32(?:\.0)? MB, and lists of packages may have at most 32(?:\.0)? MB\.$/,
  });
});
