import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readGitCommit } from '../../../../src/workspace/git/gitCommit.ts';
import { git, temporaryFolder, writeTree } from '../temporaryFolder.ts';

/** A repository with one commit, and that commit. */
function start(t: TestContext) {
  const root = temporaryFolder(t);
  git(root, 'init', '-b', 'main');
  writeTree(root, { 'a/b.txt': 'x' });
  git(root, 'add', '.');
  git(root, 'commit', '-m', 'first');
  return { root, commit: git(root, 'rev-parse', 'HEAD').trim() };
}

test('the commit is read from wherever git notes it', async (t) => {
  const { root, commit } = start(t);
  assert.equal(await readGitCommit(root), commit);
  assert.equal(await readGitCommit(join(root, 'a')), commit);
  git(root, 'pack-refs', '--all');
  assert.equal(await readGitCommit(root), commit);
  git(root, 'checkout', '-b', 'feature/x');
  assert.equal(await readGitCommit(root), commit);
  git(root, 'commit', '--allow-empty', '-m', 'second');
  const second = git(root, 'rev-parse', 'HEAD').trim();
  assert.notEqual(second, commit);
  assert.equal(await readGitCommit(root), second, 'a loose reference wins over a packed one');
  git(root, 'checkout', '--detach', commit);
  assert.equal(await readGitCommit(root), commit);
  const tree = join(temporaryFolder(t), 'tree');
  git(root, 'worktree', 'add', tree, 'feature/x');
  assert.equal(await readGitCommit(tree), second);
  const link = join(temporaryFolder(t), 'link');
  symlinkSync(root, link);
  assert.equal(await readGitCommit(link), commit);
});

test('symbolic references are followed as far as git does, and never out of the references', async (t) => {
  const { root, commit } = start(t);
  const head = (text: string): void => writeFileSync(join(root, '.git/HEAD'), text);
  const chain = (length: number): void => {
    mkdirSync(join(root, '.git/refs/chain'), { recursive: true });
    for (let step = 1; step < length; step += 1) {
      const next = step === length - 1 ? 'refs/heads/main' : `refs/chain/${step + 1}`;
      writeFileSync(join(root, `.git/refs/chain/${step}`), `ref: ${next}\n`);
    }
    head('ref: refs/chain/1\n');
  };
  chain(4);
  assert.equal(await readGitCommit(root), commit);
  chain(5);
  assert.equal(await readGitCommit(root), null);
  writeFileSync(join(root, 'secret'), commit);
  for (const text of [
    'ref: refs/heads/none\n',
    'ref: refs/../../secret\n',
    'ref: secret\n',
    'ref:\n',
    'nothing',
    commit.slice(1),
    `ref: refs/heads/ma in`,
  ]) {
    head(text);
    assert.equal(await readGitCommit(root), null, text);
  }
  head(commit);
  assert.equal(await readGitCommit(root), commit);
});

test('outside a repository, before the first commit and without a HEAD there is no commit', async (t) => {
  const root = temporaryFolder(t);
  assert.equal(await readGitCommit(root), null);
  git(root, 'init');
  assert.equal(await readGitCommit(root), null);
  rmSync(join(root, '.git/HEAD'));
  assert.equal(await readGitCommit(root), null);
  await assert.rejects(readGitCommit(join(root, 'none')), { code: 'ENOENT' });
});
