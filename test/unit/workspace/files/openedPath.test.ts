import assert from 'node:assert/strict';
import { closeSync, openSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { isOpenedInside } from '../../../../src/workspace/files/openedPath.ts';
import { temporaryFolder, writeTree } from '../temporaryFolder.ts';

function opened(t: TestContext, path: string): number {
  const descriptor = openSync(path, 'r');
  t.after(() => closeSync(descriptor));
  return descriptor;
}

test('an open file is the one at its path, unless a link led to it', (t) => {
  if (process.platform === 'win32') return t.skip('making a link needs a right on Windows');
  const [root, outside] = [temporaryFolder(t), temporaryFolder(t)];
  writeTree(root, { 'data/file': 'mine' });
  writeTree(outside, { file: 'private' });
  symlinkSync(outside, join(root, 'out'));
  const [own, linked] = ['data/file', 'out/file'].map((path) => opened(t, join(root, path)));
  for (const platform of [process.platform, 'darwin']) {
    const isInside = (descriptor: number | undefined, path: string): boolean =>
      isOpenedInside(descriptor ?? -1, realpathSync(root), path, platform);
    assert.deepEqual([isInside(own, 'data/file'), isInside(linked, 'out/file')], [true, false], platform);
  }
  rmSync(join(root, 'data/file'));
  assert.equal(
    isOpenedInside(own ?? -1, realpathSync(root), 'data/file', 'darwin'),
    false,
    'nothing is there any more',
  );
});

test('a folder that was replaced by a link before or after a file in it was opened is noticed', {
  skip: process.platform !== 'linux' && 'only Linux reports the path of an open file',
}, (t) => {
  const root = temporaryFolder(t);
  writeTree(root, { 'data/file': 'one', 'other/file': 'two', 'gone/file': 'three' });
  const [before, gone] = ['data/file', 'gone/file'].map((path) => opened(t, join(root, path)));
  renameSync(join(root, 'data'), join(root, 'moved'));
  symlinkSync('other', join(root, 'data'));
  rmSync(join(root, 'gone'), { recursive: true });
  assert.equal(isOpenedInside(before ?? -1, root, 'data/file'), false);
  assert.equal(isOpenedInside(opened(t, join(root, 'data/file')), root, 'data/file'), false);
  assert.equal(isOpenedInside(gone ?? -1, root, 'gone/file'), true, 'a file that was removed since is still that one');
});
