import assert from 'node:assert/strict';
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { countGitChanges } from '../../../../src/workspace/git/gitState.ts';
import { readGitCommit } from '../../../../src/workspace/git/gitCommit.ts';
import { findRepository } from '../../../../src/workspace/git/repository.ts';
import { git, temporaryFolder, writeTree } from '../temporaryFolder.ts';

/** A repository with one commit. */
function makeRepository(root: string): string {
  git(root, 'init', '-b', 'main');
  writeTree(root, { 'a.txt': 'a', 'sub/b.txt': 'b' });
  git(root, 'add', '.');
  git(root, 'commit', '-m', 'first');
  return git(root, 'rev-parse', 'HEAD').trim();
}

test('a repository is found from each folder below its top, and not from inside its git folder', async (t) => {
  const root = temporaryFolder(t);
  assert.equal(await findRepository(root), undefined);
  makeRepository(root);
  const gitFolder = join(root, '.git');
  const found = { top: root, gitFolder, commonFolder: gitFolder, isOwn: true };
  for (const folder of [root, join(root, 'sub'), join(root, 'sub', 'missing')]) {
    assert.deepEqual(await findRepository(folder), found, folder);
  }
  for (const folder of ['.git', '.git/objects']) assert.equal(await findRepository(join(root, folder)), undefined);
});

test('a folder with a `.git` that is no repository belongs to the one above', async (t) => {
  const root = temporaryFolder(t);
  makeRepository(root);
  const folders: Readonly<Record<string, Record<string, string>>> = {
    empty: { '.git/x': '' },
    text: { '.git': 'gitdir: nowhere\n' },
    noObjects: { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/x': '' },
    noReferences: { '.git/HEAD': 'ref: refs/heads/main\n', '.git/objects/x': '' },
    noHead: { '.git/objects/x': '', '.git/refs/x': '' },
    objectsFile: { '.git/HEAD': 'x', '.git/objects': '', '.git/refs/x': '' },
  };
  for (const [name, files] of Object.entries(folders)) {
    writeTree(join(root, name), files);
    assert.equal((await findRepository(join(root, name)))?.top, root, name);
  }
});

test('a linked work tree has its own files and shares the others', async (t) => {
  const [root, other] = [temporaryFolder(t), join(temporaryFolder(t), 'tree')];
  const commit = makeRepository(root);
  git(root, 'worktree', 'add', '-b', 'side', other);
  assert.deepEqual(await findRepository(other), {
    top: other,
    gitFolder: join(root, '.git/worktrees/tree'),
    commonFolder: join(root, '.git'),
    isOwn: true,
  });
  assert.equal(await readGitCommit(other), commit);
  writeTree(other, { 'c.txt': 'c' });
  git(other, 'add', '.');
  git(other, 'commit', '-m', 'second');
  const second = git(other, 'rev-parse', 'HEAD').trim();
  assert.deepEqual([await readGitCommit(other), await readGitCommit(root)], [second, commit]);
});

test('a repository of another user is not used', {
  skip: process.getuid?.() !== 0 && 'only root can give files away',
}, async (t) => {
  const root = temporaryFolder(t);
  const commit = makeRepository(root);
  for (const path of ['.git/refs', '.git/HEAD', '.git', '.']) {
    chownSync(join(root, path), 65_534, 65_534);
    assert.equal((await findRepository(root))?.isOwn, false, path);
    assert.equal(await readGitCommit(root), null);
    assert.equal(await countGitChanges(root, commit), null);
    chownSync(join(root, path), 0, 0);
  }
  assert.equal((await findRepository(root))?.isOwn, true);
});

test('the commit is that of the branch, loose or packed, or of a detached head', async (t) => {
  const root = temporaryFolder(t);
  assert.equal(await readGitCommit(root), null);
  git(root, 'init', '-b', 'main');
  assert.equal(await readGitCommit(root), null, 'before the first commit');
  const commit = makeRepository(root);
  assert.equal(await readGitCommit(join(root, 'sub')), commit);
  git(root, 'pack-refs', '--all');
  assert.equal(await readGitCommit(root), commit);
  git(root, 'commit', '--allow-empty', '-m', 'second');
  const second = git(root, 'rev-parse', 'HEAD').trim();
  assert.notEqual(second, commit);
  assert.equal(await readGitCommit(root), second, 'a loose reference wins over the packed one');
  git(root, 'checkout', '-q', '--detach', commit);
  assert.equal(await readGitCommit(root), commit);
});

test('a head that leads around, out of the references or to no commit is none', async (t) => {
  const root = temporaryFolder(t);
  const commit = makeRepository(root);
  const head = join(root, '.git/HEAD');
  const commitOf = async (text: string): Promise<string | null> => {
    writeFileSync(head, text);
    return readGitCommit(root);
  };
  writeFileSync(join(root, '.git/refs/heads/one'), 'ref: refs/heads/main\n');
  assert.equal(await commitOf('ref: refs/heads/one\n'), commit);
  assert.equal(await commitOf(`${commit}\n`), commit);
  assert.equal(await commitOf('a'.repeat(64)), 'a'.repeat(64));
  writeFileSync(join(root, '.git/refs/heads/loop'), 'ref: refs/heads/loop\n');
  for (const text of [
    'ref: refs/heads/loop',
    'ref: refs/heads/missing',
    'ref: refs/heads/../../HEAD',
    'ref: ../outside',
    'ref: refs/heads/a b',
    'ref: refs/heads/a?',
    'ref:',
    'a'.repeat(39),
    'a'.repeat(41),
    commit.toUpperCase().replaceAll(/\d/g, 'A'),
    'nothing',
    `ref: refs/heads/main${' '.repeat(4096)}`,
  ]) {
    assert.equal(await commitOf(text), null, text.slice(0, 40));
  }
});

test('five symbolic references are followed, as git does', async (t) => {
  const root = temporaryFolder(t);
  const commit = makeRepository(root);
  const heads = join(root, '.git/refs/heads');
  writeFileSync(join(root, '.git/HEAD'), 'ref: refs/heads/r1\n');
  for (const number of [1, 2, 3]) writeFileSync(join(heads, `r${number}`), `ref: refs/heads/r${number + 1}\n`);
  writeFileSync(join(heads, 'r4'), `${commit}\n`);
  assert.equal(await readGitCommit(root), commit);
  writeFileSync(join(heads, 'r4'), 'ref: refs/heads/r5\n');
  writeFileSync(join(heads, 'r5'), `${commit}\n`);
  assert.equal(await readGitCommit(root), null);
});

test('changes are the files that differ from a commit and those that it does not have', async (t) => {
  const root = temporaryFolder(t);
  assert.equal(await countGitChanges(root, 'a'.repeat(40)), null, 'outside of a repository');
  const commit = makeRepository(root);
  assert.equal(await countGitChanges(root, commit), 0);
  writeTree(root, { 'a.txt': 'changed', 'sub/new.txt': '', 'ignored.log': '', '.gitignore': '*.log\n' });
  assert.equal(await countGitChanges(root, commit), 3);
  assert.equal(await countGitChanges(join(root, 'sub'), commit), 1, 'only those of the folder');
  rmSync(join(root, 'sub/b.txt'));
  assert.equal(await countGitChanges(join(root, 'sub'), commit), 2);
  git(root, 'add', '.');
  assert.equal(await countGitChanges(root, commit), 4);
  assert.equal(await countGitChanges(root, 'b'.repeat(40)), null, 'a commit that is not there');
  await assert.rejects(countGitChanges(root, commit, AbortSignal.abort()), { name: 'AbortError' });
});

test('no program that a repository names is run for its changes', async (t) => {
  if (process.platform === 'win32') return t.skip('NOT ON WINDOWS: the program is a script for sh');
  const root = temporaryFolder(t);
  const commit = makeRepository(root);
  writeTree(root, {
    'trap.sh': `#!/bin/sh\ntouch '${root}/sprung'\ncat "$1"\n`,
    '.gitattributes': '*.txt diff=trap\n',
    'a.txt': 'x',
  });
  git(root, 'config', 'diff.trap.command', `sh ${join(root, 'trap.sh')}`);
  git(root, 'config', 'diff.trap.textconv', `sh ${join(root, 'trap.sh')}`);
  assert.equal(await countGitChanges(root, commit), 3);
  mkdirSync(join(root, 'sprung')); // fails if it is there
});
