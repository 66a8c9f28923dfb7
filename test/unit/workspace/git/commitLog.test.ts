import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readCommits } from '../../../../src/workspace/git/commitLog.ts';
import { git, temporaryFolder, writeTree } from '../temporaryFolder.ts';

const { signal } = new AbortController();
const NOTHING_KNOWN = { head: undefined, ids: new Set<string>() };

function repository(t: TestContext): string {
  const root = temporaryFolder(t);
  git(root, 'init');
  return root;
}

function commit(root: string, message: string, files: Readonly<Record<string, string>>): string {
  writeTree(root, files);
  git(root, 'add', '.');
  git(root, 'commit', '--cleanup=verbatim', '-m', message);
  return git(root, 'rev-parse', 'HEAD').trim();
}

/** What `git fast-import` makes of a stream, which is the quickest way to a large history. */
function importCommits(root: string, stream: Iterable<string | Buffer>): void {
  const input = Buffer.concat([...stream].map((part) => Buffer.from(part)));
  // git takes and returns memory for each object, which costs the kernel ten times what git itself does.
  const env = { ...process.env, MALLOC_TRIM_THRESHOLD_: '100000000' };
  execFileSync('git', ['-C', root, 'fast-import', '--quiet'], { input, env });
}

function importedCommit(message: string | Buffer, paths: readonly string[]): Buffer {
  const text = Buffer.from(message);
  const content = text.toString('hex', 0, 20);
  const files = paths.map((path) => `M 644 inline ${path}\ndata ${content.length}\n${content}\n`).join('');
  return Buffer.concat([
    Buffer.from(`commit refs/heads/large\ncommitter a <a@b> 1700000000 +0000\ndata ${text.length}\n`),
    text,
    Buffer.from(`\n${files}\n`),
  ]);
}

async function read(folder: string, known: Parameters<typeof readCommits>[1]['known'] = NOTHING_KNOWN) {
  const log = await readCommits(folder, { known, signal });
  assert.ok(log !== undefined);
  return log;
}

test('commits have their message and the files of the folder that they changed, the newest first, without merges', async (t) => {
  const root = repository(t);
  const first = commit(root, 'first', { 'a.txt': 'a', 'sub/b.txt': 'b', 'sub/deep/c.txt': 'c' });
  git(root, 'checkout', '-q', '-b', 'side');
  const side = commit(root, 'on the side\n\nwith a body', { 'sub/b.txt': 'bb' });
  git(root, 'checkout', '-q', '-');
  const other = commit(root, 'elsewhere', { 'a.txt': 'aa' });
  git(root, 'merge', '-q', '--no-ff', '-m', 'merged', 'side');
  const { head, ids, added } = await read(root);
  assert.equal(head, git(root, 'rev-parse', 'HEAD').trim());
  assert.deepEqual(ids.toSorted(), [first, side, other].toSorted());
  const byId = new Map(added.map((one) => [one.id, one]));
  assert.deepEqual(byId.get(first), { id: first, message: 'first', paths: ['a.txt', 'sub/b.txt', 'sub/deep/c.txt'] });
  assert.deepEqual(byId.get(side), { id: side, message: 'on the side\n\nwith a body', paths: ['sub/b.txt'] });
  const inSub = new Map((await read(join(root, 'sub'))).added.map((one) => [one.id, one]));
  assert.deepEqual(inSub.get(side)?.paths, ['b.txt']);
  assert.deepEqual(inSub.get(first)?.paths, ['b.txt', 'deep/c.txt']);
  assert.deepEqual(inSub.get(other), { id: other, message: '', paths: [] });
});

test('only what is new is read: after a commit, and after one that was replaced', async (t) => {
  const root = repository(t);
  const first = commit(root, 'first', { 'a.txt': '1' });
  const second = commit(root, 'second', { 'a.txt': '2' });
  const known = { head: second, ids: new Set([first, second]) };
  assert.equal(await readCommits(root, { known, signal }), undefined);
  const third = commit(root, 'third', { 'a.txt': '3' });
  const after = await read(root, known);
  assert.deepEqual([after.ids, after.added.map(({ message }) => message)], [[third, second, first], ['third']]);
  git(root, 'reset', '-q', '--hard', first);
  const replaced = commit(root, 'another second', { 'a.txt': '4' });
  const rewritten = await read(root, { head: third, ids: new Set([third, second, first]) });
  assert.deepEqual(rewritten.ids, [replaced, first]);
  assert.deepEqual(
    rewritten.added.map(({ message }) => message),
    ['another second'],
  );
});

test('there are no commits outside a repository and before the first commit', async (t) => {
  const root = temporaryFolder(t);
  assert.equal(await readCommits(root, { known: NOTHING_KNOWN, signal }), undefined);
  git(root, 'init');
  assert.equal(await readCommits(root, { known: NOTHING_KNOWN, signal }), undefined);
  const known = { head: 'a'.repeat(40), ids: new Set(['a'.repeat(40)]) };
  assert.deepEqual(await readCommits(root, { known, signal }), { head: undefined, ids: [], added: [] });
});

test('a repository whose index is not a file has no commits', async (t) => {
  const root = repository(t);
  const head = commit(root, 'first', { 'a.txt': 'a' });
  rmSync(join(root, '.git/index'));
  mkdirSync(join(root, '.git/index'));
  assert.deepEqual(await read(root), { head, ids: [], added: [] });
});

test('names and messages that look like the format of the log are read as they are', async (t) => {
  const root = repository(t);
  const message = `//${'a'.repeat(40)}\n\n//sub\n\n\u0001\u0002 ${'b'.repeat(40)}`;
  const names = ['\nline feed.txt', 'b'.repeat(40), 'é ü.txt', ' space', '"quoted"', '-n'];
  commit(root, message, Object.fromEntries(names.map((name) => [name, 'x'])));
  const { added } = await read(root);
  assert.equal(added.length, 1);
  assert.equal(added[0]?.message, message);
  assert.deepEqual(added[0]?.paths.toSorted(), names.toSorted());
});

test('the last 5,000 commits are read, of each message 2,000 characters, and no commit of more than 50 files is evidence', async (t) => {
  const root = repository(t);
  const many = Array.from({ length: 50_000 }, (_, at) => `d${at % 100}/f${at}`);
  importCommits(root, [
    ...Array.from({ length: 5100 }, (_, at) => importedCommit(`number ${at}`, ['a.txt', `n${at % 7}.txt`])),
    importedCommit('moves everything', many),
    importedCommit(Buffer.alloc(10_000_000, 'long'), ['long.txt']),
    importedCommit(Buffer.from([0x66, 0xff, 0xfe, 0x80, 0x67]), ['invalid.txt']),
    importedCommit(
      'fifty files',
      many.slice(0, 50).map((path) => `e/${path}`),
    ),
  ]);
  git(root, 'symbolic-ref', 'HEAD', 'refs/heads/large');
  const { ids, added } = await read(root);
  assert.deepEqual([ids.length, added.length], [5000, 5000]);
  const [fifty, invalid, long, everything, last] = added;
  assert.equal(fifty?.paths.length, 50);
  assert.match(invalid?.message ?? '', /^f.+g$/);
  assert.deepEqual([long?.message.length, long?.paths], [2000, ['long.txt']]);
  assert.deepEqual([everything?.message, everything?.paths], ['', []]);
  assert.equal(last?.message, 'number 5099');
});

test('a shallow clone has the commits that it has, and nothing is fetched for a clone without objects', async (t) => {
  const root = repository(t);
  for (const name of ['one', 'two', 'three']) commit(root, name, { 'a.txt': name });
  git(root, 'config', 'uploadpack.allowFilter', 'true');
  const clones = temporaryFolder(t);
  execFileSync('git', ['clone', '-q', '--depth', '2', `file://${root}`, join(clones, 'shallow')]);
  assert.deepEqual(
    (await read(join(clones, 'shallow'))).added.map(({ message }) => message),
    ['three', 'two'],
  );
  const treeless = join(clones, 'treeless');
  execFileSync('git', ['clone', '-q', '--no-checkout', '--filter=tree:0', `file://${root}`, treeless]);
  const before = readdirSync(join(treeless, '.git/objects/pack'));
  // Commits that could not be read are not known either, so they are read once the objects are there.
  const { ids, added } = await read(treeless);
  assert.deepEqual([ids, added], [[], []]);
  assert.deepEqual(readdirSync(join(treeless, '.git/objects/pack')), before);
});

test('the configuration and the attributes of a repository run nothing while its history is read', async (t) => {
  const root = repository(t);
  commit(root, 'first', { 'a.txt': 'a', '.gitattributes': '* diff=trap\n' });
  commit(root, 'second', { 'a.txt': 'b' });
  const [folder, mark] = [temporaryFolder(t), join(temporaryFolder(t), 'mark')];
  const trap = join(folder, 'trap');
  writeFileSync(trap, `#!/bin/sh\necho "$*" >> '${mark}'\nexit 1\n`);
  chmodSync(trap, 0o755);
  mkdirSync(join(root, '.git/hooks'), { recursive: true });
  appendFileSync(
    join(root, '.git/config'),
    [
      `[core]\n\tpager = ${trap}\n\tfsmonitor = ${trap}\n\tsshCommand = ${trap}`,
      `[log]\n\tshowSignature = true\n\tmailmap = true\n[gpg]\n\tprogram = ${trap}`,
      `[diff]\n\texternal = ${trap}\n[diff "trap"]\n\tcommand = ${trap}\n\ttextconv = ${trap}`,
      `[alias]\n\tlog = !${trap}\n\trev-list = !${trap}\n`,
    ].join('\n'),
  );
  // Git lets a program check the signature of a commit that has one, if the repository asks for that.
  const signed = git(root, 'cat-file', 'commit', 'HEAD').replace('\n\n', '\ngpgsig -----BEGIN PGP SIGNATURE-----\n\n');
  writeFileSync(join(folder, 'commit'), signed);
  git(root, 'update-ref', 'HEAD', git(root, 'hash-object', '-t', 'commit', '-w', join(folder, 'commit')).trim());
  assert.equal((await read(root)).added.length, 2);
  assert.equal(existsSync(mark), false);
  git(root, 'log');
  assert.ok(existsSync(mark), 'the trap is one');
});

test('reading ends when it is aborted', async (t) => {
  const root = repository(t);
  commit(root, 'first', { 'a.txt': 'a' });
  const reason = new Error('closed');
  await assert.rejects(readCommits(root, { known: NOTHING_KNOWN, signal: AbortSignal.abort(reason) }), reason);
});
