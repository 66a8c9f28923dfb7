import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { PinnedFolders } from '../../../../src/workspace/files/pinnedFolders.ts';
import { temporaryFolder, writeTree } from '../temporaryFolder.ts';

function pinned(t: TestContext): { root: string; folders: PinnedFolders } {
  const root = temporaryFolder(t);
  const folders = new PinnedFolders(root);
  t.after(() => folders.dispose());
  return { root, folders };
}

test('a folder that was forgotten may be removed and made again', (t) => {
  const { root, folders } = pinned(t);
  for (const path of ['a', 'a', 'b', 'b/deep', 'b/deep', 'b']) {
    mkdirSync(join(root, path), { recursive: true });
    writeFileSync(folders.at(`${path}/file`), '');
    assert.equal(existsSync(join(root, path, 'file')), true);
    rmSync(join(root, path), { recursive: true });
    folders.forget(path);
  }
});

test('more folders than are kept open can be used in any order, several times', (t) => {
  const { root, folders } = pinned(t);
  const names = Array.from({ length: 150 }, (_, index) => `folder${index}`);
  for (const name of names) mkdirSync(folders.at(name));
  for (const file of ['one', 'two']) {
    for (const name of [...names, ...names.toReversed()]) writeFileSync(folders.at(`${name}/${file}`), '');
  }
  for (const name of names) assert.deepEqual(readdirSync(join(root, name)).sort(), ['one', 'two']);
});

test('a folder that was replaced by a link, a file or another folder is refused, and nothing is written there', (t) => {
  const { root, folders } = pinned(t);
  const names = Array.from({ length: 100 }, (_, index) => `other${index}`);
  for (const name of ['link', 'file', 'another', ...names]) mkdirSync(folders.at(name));
  for (const name of ['link', 'file', 'another']) writeFileSync(folders.at(`${name}/before`), '');
  for (const name of ['link', 'file', 'another']) renameSync(join(root, name), join(root, `${name}-moved`));
  symlinkSync(temporaryFolder(t), join(root, 'link'));
  writeTree(root, { file: 'x', 'another/mine': 'mine' });
  // So many others are used in between that the first ones are opened again.
  for (const name of names) writeFileSync(folders.at(`${name}/file`), '');
  for (const name of ['link', 'file', 'another']) {
    assert.throws(() => folders.at(`${name}/after`), { code: 'refused', message: new RegExp(`^${name} was replaced`) });
  }
  assert.deepEqual(readdirSync(join(root, 'another')), ['mine']);
});
