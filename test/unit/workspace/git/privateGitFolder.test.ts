import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { PrivateGitFolder } from '../../../../src/workspace/git/privateGitFolder.ts';
import { findRepository } from '../../../../src/workspace/git/repository.ts';
import { selectFiles } from '../../../../src/workspace/select/selection.ts';
import { git, temporaryFolder, writeTree } from '../temporaryFolder.ts';

/** A repository with a tracked file that its rules ignore, and one that only `info/exclude` ignores. */
function makeRepository(t: TestContext): string {
  const root = temporaryFolder(t);
  git(root, 'init');
  writeTree(root, { 'kept.log': '', 'a.txt': '', 'drop.log': '', 'private.txt': '' });
  git(root, 'add', 'kept.log', 'a.txt');
  git(root, 'commit', '-m', 'first');
  appendFileSync(join(root, '.git/info/exclude'), 'private.txt\n*.log\n');
  return root;
}

/** A folder for the temporary files of this process, for the length of the test. */
function ownTemporaryFiles(t: TestContext): string {
  const folder = temporaryFolder(t);
  const variable = process.platform === 'win32' ? 'TEMP' : 'TMPDIR';
  const before = process.env[variable];
  process.env[variable] = folder;
  t.after(() => {
    if (before === undefined) delete process.env[variable];
    else process.env[variable] = before;
  });
  return folder;
}

test('the rules in .git/info/exclude count, with their place, also in another work tree of the repository', async (t) => {
  const root = makeRepository(t);
  const beside = join(temporaryFolder(t), 'beside');
  git(root, 'worktree', 'add', '-q', beside);
  writeTree(beside, { 'private.txt': '', 'b.txt': '' });
  const selected = async (folder: string) => {
    const { files, excluded } = await selectFiles(folder, { isTrusted: true });
    const { at } = excluded.find(({ path }) => path === 'private.txt') ?? {};
    return { paths: files.map(({ path }) => path), at: at?.replace(/:\d+$/, '') };
  };
  assert.deepEqual(await selected(root), { paths: ['a.txt', 'kept.log'], at: '.git/info/exclude' });
  assert.deepEqual(await selected(beside), { paths: ['a.txt', 'b.txt', 'kept.log'], at: '.git/info/exclude' });
});

test('an index that is split into two files is read', async (t) => {
  const root = makeRepository(t);
  git(root, 'update-index', '--split-index');
  assert.ok(readdirSync(join(root, '.git')).some((name) => name.startsWith('sharedindex.')));
  const { files, findings } = await selectFiles(root, { isTrusted: true });
  assert.deepEqual(
    files.map(({ path }) => path),
    ['a.txt', 'kept.log'],
  );
  assert.deepEqual(
    findings.map(({ type, path }) => [type, path]),
    [['tracked-but-ignored', 'kept.log']],
  );
});

test('a repository without index, exclude file and objects is listed', async (t) => {
  const root = makeRepository(t);
  for (const path of ['index', 'info', 'objects/pack']) rmSync(join(root, '.git', path), { recursive: true });
  const { files } = await selectFiles(root, { isTrusted: true });
  assert.deepEqual(
    files.map(({ path }) => path),
    ['a.txt', 'drop.log', 'kept.log', 'private.txt'],
  );
});

test('nothing is left of the private folder, also if making it is aborted', async (t) => {
  const root = makeRepository(t);
  const temporary = ownTemporaryFiles(t);
  const repository = await findRepository(root);
  assert.ok(repository !== undefined);
  {
    await using folder = await PrivateGitFolder.create(repository);
    assert.equal(readdirSync(temporary).length, 1);
    assert.ok((await folder?.run(root, ['ls-files', '-z']))?.items.includes('a.txt'));
  }
  assert.deepEqual(readdirSync(temporary), []);
  const reason = new Error('enough');
  await assert.rejects(PrivateGitFolder.create(repository, AbortSignal.abort(reason)), reason);
  assert.deepEqual(readdirSync(temporary), []);
});
