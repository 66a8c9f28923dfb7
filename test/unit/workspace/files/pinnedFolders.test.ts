import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { PinnedFolders } from '../../../../src/workspace/files/pinnedFolders.ts';
import { cannotListOpenFiles, openFilesIn } from '../../openFiles.ts';
import { temporaryFolder, writeTree } from '../temporaryFolder.ts';

/** The way of this system, and on Linux the one of the others too. */
const PLATFORMS = new Map([
  [process.platform as string, 'as on this system'],
  ['darwin', 'without handles'],
]);

function pinned(t: TestContext, platform: string): { root: string; folders: PinnedFolders } {
  const root = temporaryFolder(t);
  const folders = new PinnedFolders(root, false, platform);
  t.after(() => folders.dispose());
  return { root, folders };
}

for (const [platform, how] of PLATFORMS) {
  test(`a folder that was forgotten may be removed and made again, ${how}`, (t) => {
    const { root, folders } = pinned(t, platform);
    for (const path of ['a', 'a', 'b', 'b/deep', 'b/deep', 'b']) {
      mkdirSync(join(root, path), { recursive: true });
      writeFileSync(folders.at(`${path}/file`), '');
      assert.equal(existsSync(join(root, path, 'file')), true);
      rmSync(join(root, path), { recursive: true });
      folders.forget(path);
    }
  });

  test(`more folders than are kept open can be used in any order, several times, ${how}`, (t) => {
    const { root, folders } = pinned(t, platform);
    const names = Array.from({ length: 150 }, (_, index) => `folder${index}`);
    for (const name of names) mkdirSync(folders.at(name));
    for (const file of ['one', 'two']) {
      for (const name of [...names, ...names.toReversed()]) writeFileSync(folders.at(`${name}/${file}`), '');
    }
    for (const name of names) assert.deepEqual(readdirSync(join(root, name)).sort(), ['one', 'two']);
  });

  test(`a folder that was replaced by a link, a file or another folder is refused, and nothing is written there, ${how}`, (t) => {
    const { root, folders } = pinned(t, platform);
    const names = Array.from({ length: 100 }, (_, index) => `other${index}`);
    for (const name of ['link', 'file', 'another', ...names]) mkdirSync(folders.at(name));
    for (const name of ['link', 'file', 'another']) writeFileSync(folders.at(`${name}/before`), '');
    for (const name of ['link', 'file', 'another']) renameSync(join(root, name), join(root, `${name}-moved`));
    symlinkSync(temporaryFolder(t), join(root, 'link'));
    writeTree(root, { file: 'x', 'another/mine': 'mine' });
    // So many others are used in between that the first ones are opened again.
    for (const name of names) writeFileSync(folders.at(`${name}/file`), '');
    for (const name of ['link', 'file', 'another']) {
      assert.throws(() => folders.at(`${name}/after`), {
        code: 'refused',
        message: new RegExp(`^${name} was replaced`),
      });
    }
    assert.deepEqual(readdirSync(join(root, 'another')), ['mine']);
  });

  test(`a root that is a link to a folder is used, unless it must be a folder itself, ${how}`, (t) => {
    if (process.platform === 'win32') return t.skip('making a link needs a right on Windows');
    const root = temporaryFolder(t);
    mkdirSync(join(root, 'real'));
    symlinkSync('real', join(root, 'link'));
    const folders = new PinnedFolders(join(root, 'link'), false, platform);
    writeFileSync(folders.at('file'), '');
    folders.dispose();
    assert.deepEqual(readdirSync(join(root, 'real')), ['file']);
    assert.throws(() => new PinnedFolders(join(root, 'link'), true, platform), { code: 'ENOTDIR' });
    assert.throws(() => new PinnedFolders(join(root, 'real/file'), false, platform), { code: 'ENOTDIR' });
    assert.throws(() => new PinnedFolders(join(root, 'missing'), false, platform), { code: 'ENOENT' });
    new PinnedFolders(join(root, 'real'), true, platform).dispose();
  });

  test(`a folder is listed through its handle, and one behind a link or a file is refused in words, ${how}`, (t) => {
    if (process.platform === 'win32') return t.skip('making a link needs a right on Windows');
    const { root, folders } = pinned(t, platform);
    writeTree(root, { 'a/b/file': '', 'a/other': '', blocker: '' });
    symlinkSync(join(root, 'a'), join(root, 'link'));
    assert.deepEqual(readdirSync(folders.folder('a')).sort(), ['b', 'other']);
    assert.deepEqual(readdirSync(folders.folder('')).sort(), ['a', 'blocker', 'link']);
    for (const [path, by] of [
      ['link/x', 'link'],
      ['blocker/x', 'blocker'],
      ['a/other/x/y', 'a/other'],
    ] as const) {
      assert.throws(() => folders.at(path), {
        code: 'refused',
        message: `${by} was replaced by something else while files were written into it, so nothing more was written. Check what writes to this folder, and try again.`,
      });
    }
    assert.throws(() => folders.at('missing/x'), { code: 'ENOENT' });
  });

  test(`paths that begin like the folder that was used last are of their own folder, ${how}`, (t) => {
    const { root, folders } = pinned(t, platform);
    for (const name of ['ab', 'ac', 'ab/c']) mkdirSync(join(root, name));
    for (const path of ['ab/1', 'ab/2', 'ac/1', 'ab/c/1', 'ab/3', 'top']) writeFileSync(folders.at(path), '');
    assert.deepEqual(readdirSync(root, { recursive: true, encoding: 'utf8' }).sort(), [
      'ab',
      'ab/1',
      'ab/2',
      'ab/3',
      'ab/c',
      'ab/c/1',
      'ac',
      'ac/1',
      'top',
    ]);
  });
}

test('a folder that was only listed is forgotten as well', (t) => {
  const { root, folders } = pinned(t, process.platform);
  mkdirSync(join(root, 'a'));
  assert.deepEqual(readdirSync(folders.folder('a')), []);
  folders.forget('a');
  rmSync(join(root, 'a'), { recursive: true });
  mkdirSync(join(root, 'a'));
  assert.deepEqual(readdirSync(folders.folder('a')), []);
});

test('no folder stays open after its tree is disposed', { skip: cannotListOpenFiles }, (t) => {
  const root = temporaryFolder(t);
  for (let index = 0; index < 70; index += 1) mkdirSync(join(root, `f${index}`));
  const folders = new PinnedFolders(root);
  for (let index = 0; index < 70; index += 1) folders.at(`f${index}/x`);
  assert.ok(openFilesIn(root).length <= 64);
  folders.forget('f69');
  assert.equal(openFilesIn(root).includes(join(root, 'f69')), false);
  folders.dispose();
  assert.deepEqual(openFilesIn(root), []);
});

test('without handles, a root that was replaced by another folder or a file is refused by its path', (t) => {
  const { root, folders } = pinned(t, 'darwin');
  renameSync(root, `${root}-moved`);
  t.after(() => rmSync(`${root}-moved`, { recursive: true }));
  for (const replace of [() => mkdirSync(root), () => writeFileSync(root, '')]) {
    replace();
    assert.throws(() => folders.at('file'), {
      code: 'refused',
      message: `${root} was replaced by something else while files were written into it, so nothing more was written. Check what writes to this folder, and try again.`,
    });
    rmSync(root, { recursive: true });
  }
  mkdirSync(root);
});
