import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CommitFiles, fileRevisions } from '../../../../src/workspace/git/fileHistory.ts';
import { git, temporaryFolder, writeTree } from '../temporaryFolder.ts';

function commit(root: string, message: string, files: Record<string, string | Buffer>): string {
  writeTree(root, files);
  git(root, 'add', '-A');
  git(root, 'commit', '-m', message);
  return git(root, 'rev-parse', 'HEAD').trim();
}

test('the commits that changed a file are listed, the newest first', async (t) => {
  const root = temporaryFolder(t);
  const file = join(root, 'sub', 'flow.ts');
  writeTree(root, { 'sub/flow.ts': '1' });
  assert.deepEqual(await fileRevisions(file), [], 'outside of a repository');
  git(root, 'init');
  assert.deepEqual(await fileRevisions(file), [], 'before the first commit');
  const first = commit(root, 'Write the flow\n\nAnd more about it.', { 'sub/flow.ts': '1' });
  commit(root, 'Another file', { 'sub/other.ts': '' });
  const third = commit(root, 'a  b: "quoted"', { 'sub/flow.ts': '2' });
  const revisions = await fileRevisions(file);
  assert.deepEqual(
    revisions.map(({ commit, subject }) => [commit, subject]),
    [
      [third, 'a  b: "quoted"'],
      [first, 'Write the flow'],
    ],
  );
  for (const { at } of revisions) assert.ok(Math.abs(Date.parse(at) - Date.now()) < 10 * 60_000, at);
  assert.deepEqual(await fileRevisions(join(root, 'sub', 'none.ts')), []);
  await assert.rejects(fileRevisions(file, AbortSignal.abort()), { name: 'AbortError' });
});

test('files of a commit are read as they were, and what it does not have is undefined', async (t) => {
  const root = temporaryFolder(t);
  git(root, 'init');
  const text = 'line\nwith \0 and é\n';
  const ending = { nul: '\0', nuls: 'a\0\0', last: 'a\0b\0' };
  const first = commit(root, 'first', { 'sub/a.ts': text, empty: '', 'gone.ts': 'x', ...ending });
  writeFileSync(join(root, 'sub/a.ts'), 'changed');
  await using files = await CommitFiles.open(join(root, 'sub/a.ts'), first);
  assert.equal(await files.read(join(root, 'sub/a.ts')), text);
  assert.equal(await files.read(join(root, 'empty')), '');
  for (const [path, content] of Object.entries(ending)) assert.equal(await files.read(join(root, path)), content, path);
  for (const path of ['none.ts', 'sub', '', '../outside'])
    assert.equal(await files.read(join(root, path)), undefined, path);
});

test('no more is read of a commit than a flow needs', async (t) => {
  const root = temporaryFolder(t);
  git(root, 'init');
  const first = commit(root, 'first', { a: Buffer.alloc(10_000_000, 'x'), b: Buffer.alloc(10_000_000, 'y'), c: 'x' });
  await using files = await CommitFiles.open(join(root, 'a'), first);
  for (const name of ['a', 'b']) assert.equal((await files.read(join(root, name)))?.length, 10_000_000);
  await assert.rejects(files.read(join(root, 'c')), {
    code: 'limit',
    message: 'The flow of that revision needs more than 500 files or 20.0 MB.',
  });
});

test('a revision that is no hash, or without a repository, is an error', async (t) => {
  const root = temporaryFolder(t);
  for (const revision of ['HEAD', 'a'.repeat(39), 'A'.repeat(40), '--all', `${'a'.repeat(40)}\n`]) {
    await assert.rejects(CommitFiles.open(join(root, 'a'), revision), {
      code: 'bad-input',
      message: 'A revision is the full hash of a commit.',
    });
  }
  await assert.rejects(CommitFiles.open(join(root, 'a'), 'a'.repeat(40)), {
    code: 'missing',
    message: 'This file is not in a git repository that belongs to you.',
  });
});
