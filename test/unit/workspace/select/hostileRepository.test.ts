import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PrivateGitFolder } from '../../../../src/workspace/git/privateGitFolder.ts';
import { findRepository } from '../../../../src/workspace/git/repository.ts';
import { inspectSearchable, selectSearchable } from '../../../../src/workspace/select/searchableFiles.ts';
import { selectFiles, type Selection } from '../../../../src/workspace/select/selection.ts';
import { hostileRepository, isTrapOnly, PROGRAM_KEYS, setTrap } from './hostileRepository.ts';
import { git, temporaryFolder, writeTree } from '../temporaryFolder.ts';
import { writeIndex } from './writeIndex.ts';

const pathsOf = ({ files }: Selection): string[] => files.map(({ path }) => path);

test('listing files runs no program configured by the repository and writes no log', async (t) => {
  // Keys that only name a program do not change what the others do. The rest can hide others, so each gets a repository of its own.
  const [together, alone] = [PROGRAM_KEYS.filter(isTrapOnly), PROGRAM_KEYS.filter((key) => !isTrapOnly(key))];
  for (const keys of [together, ...alone.map((key) => [key])]) {
    const repository = hostileRepository(t);
    for (const key of keys) setTrap(repository, key);
    const { files } = await selectFiles(repository.root, { isTrusted: true });
    const names = keys.map(({ key }) => key).join();
    assert.deepEqual(repository.sprung(), [], names);
    assert.deepEqual(
      files.map(({ path }) => path),
      ['.gitattributes', 'extra.py', 'train.py'],
      names,
    );
  }
});

test('git sees no key from the repository or user configuration while listing files', async (t) => {
  const { root, trap } = hostileRepository(t);
  git(root, 'config', 'hook.invented.by.the.next.git', trap);
  git(root, 'config', 'core.fsmonitor', trap);
  const home = temporaryFolder(t);
  writeFileSync(
    join(home, '.gitconfig'),
    `[core]\n\tfsmonitor = ${trap}\n[trace2]\n\teventTarget = ${join(home, 'log')}\n`,
  );
  const before = process.env['HOME'];
  process.env['HOME'] = home;
  t.after(() => (process.env['HOME'] = before));
  const repository = await findRepository(root);
  assert.ok(repository);
  await using folder = await PrivateGitFolder.create(repository);
  const settings = await folder?.run(root, ['config', '--list', '--name-only', '-z']);
  assert.deepEqual([...new Set(settings?.items.filter(Boolean).map((key) => key.toLowerCase()))].sort(), [
    'core.bare',
    'core.excludesfile',
    'core.fsmonitor', // false
    'core.hookspath',
    'core.ignorecase',
    'core.precomposeunicode',
    'core.repositoryformatversion',
    'core.untrackedcache',
    'protocol.allow',
  ]);
  assert.ok(!settings?.items.some((item) => item.includes(trap)));
  assert.deepEqual((await folder?.run(root, ['config', '-z', 'core.fsmonitor']))?.items, ['false']);
  await selectFiles(root, { isTrusted: true });
  assert.equal(existsSync(join(home, 'log')), false);
});

test('a .git file that points to a prepared folder runs nothing', async (t) => {
  const hostile = hostileRepository(t);
  setTrap(hostile, { key: 'remote.origin.uploadpack', value: 'TRAP' });
  setTrap(hostile, { key: 'core.fsmonitor', value: 'TRAP' });
  renameSync(join(hostile.root, '.git'), join(hostile.root, '../elsewhere'));
  writeFileSync(join(hostile.root, '.git'), 'gitdir: ../elsewhere\n');
  const selection = await selectFiles(hostile.root, { isTrusted: true });
  assert.deepEqual(pathsOf(selection), ['.gitattributes', 'extra.py', 'train.py']);
  assert.deepEqual(hostile.sprung(), []);
});

test('objects from alternate object stores are never looked up', async (t) => {
  const { root } = hostileRepository(t);
  writeTree(root, { 'debug.log': '' });
  const elsewhere = join(root, '../other');
  mkdirSync(elsewhere);
  git(elsewhere, 'init');
  writeFileSync(join(elsewhere, 'rules'), '*.log\n');
  git(elsewhere, 'hash-object', '-w', 'rules');
  writeFileSync(join(root, '.git/objects/info/alternates'), `${elsewhere}/.git/objects\n`);
  assert.deepEqual(pathsOf(await selectFiles(root, { isTrusted: true })), ['debug.log', 'extra.py', 'train.py']);
});

test('git does not read a repository owned by another user, and the selection reports it', async (t) => {
  if (process.geteuid?.() !== 0) return t.skip('SKIPPED: only root can give a folder to another user');
  for (const part of ['.git', '.git/objects', '.git/HEAD', '']) {
    const hostile = hostileRepository(t);
    setTrap(hostile, { key: 'remote.origin.uploadpack', value: 'TRAP' });
    writeTree(hostile.root, { 'sub/.gitignore': '*.tmp\n', 'sub/a.tmp': '', 'sub/b.py': '' });
    writeTree(hostile.root, { '.git/info/exclude': 'extra.py\n' });
    chownSync(join(hostile.root, part), 65_534, 65_534);
    // As sudo sets it: git itself would take this for the user's own.
    process.env['SUDO_UID'] = '65534';
    const selection = await selectFiles(hostile.root, { isTrusted: true }).finally(
      () => delete process.env['SUDO_UID'],
    );
    assert.deepEqual(pathsOf(selection), ['.gitattributes', 'extra.py', 'sub/.gitignore', 'sub/b.py', 'train.py']);
    assert.deepEqual(
      selection.findings.map(({ type, path }) => [type, path]),
      [['foreign-repository', hostile.root]],
    );
    assert.match(selection.findings[0]?.message ?? '', /belongs to another user, so git was not run/);
    assert.deepEqual(hostile.sprung(), []);
  }
});

for (const paths of [
  ['../beside/secret.txt'],
  ['/etc/hostname'],
  ['.git/config', 'a/.GIT/config'],
  ['a//b', './train.py'],
]) {
  test(`an index that tracks ${paths.join(' and ')} sends nothing but the folder's own files`, async (t) => {
    const { root } = hostileRepository(t);
    mkdirSync(join(root, '../beside'));
    writeTree(root, { '../beside/secret.txt': 'private', 'a/b': '', 'a/.GIT/config': '' });
    rmSync(join(root, 'a/.GIT'), { recursive: true });
    writeIndex(join(root, '.git/index'), paths);
    const selection = await selectFiles(root, { isTrusted: true });
    assert.deepEqual(pathsOf(selection), ['a/b', 'extra.py', 'train.py']);
  });
}

test('tracked files whose folder was replaced by a link are neither listed nor read', async (t) => {
  const { root } = hostileRepository(t);
  writeTree(root, { 'data/rows.csv': '1', 'data/deep/more.csv': '2' });
  git(root, 'add', 'data');
  const outside = join(root, '../outside');
  mkdirSync(outside);
  writeTree(outside, { 'rows.csv': 'private', 'deep/more.csv': 'private', 'pyvenv.cfg': '' });
  rmSync(join(root, 'data'), { recursive: true });
  symlinkSync(outside, join(root, 'data'));
  for (const selection of [
    await selectFiles(root, { isTrusted: true }),
    await selectSearchable(root, { isTrusted: true }),
    await inspectSearchable(root, ['data/rows.csv', 'train.py', 'extra.py'], {}),
  ]) {
    assert.deepEqual(selection.files.map(({ path }) => path).sort(), ['extra.py', 'train.py']);
    assert.equal(selection.excluded.find(({ path }) => path === 'data/rows.csv')?.reason, 'link');
  }
});

test('ignore files and git files that are pipes, devices or endless do not block', async (t) => {
  if (process.platform === 'win32') return t.skip('Windows has no pipes and devices in folders');
  const endless = (root: string, path: string): void => symlinkSync('/dev/zero', join(root, path));
  const pipe = (root: string, path: string): void => void execFileSync('mkfifo', [join(root, path)]);
  const huge = (root: string, path: string): void => {
    writeFileSync(join(root, path), '');
    truncateSync(join(root, path), 2 ** 40);
  };
  for (const isTrusted of [true, false]) {
    for (const put of [pipe, endless, huge]) {
      for (const paths of [
        ['.gitignore', 'sub/.gitignore', '.farwharfignore', '.git/info/exclude'],
        ['.git/commondir'],
      ]) {
        const { root } = hostileRepository(t);
        mkdirSync(join(root, 'sub'));
        writeTree(root, { 'sub/x.py': '' });
        for (const path of paths) {
          rmSync(join(root, path), { force: true });
          put(root, path);
        }
        const selection = await selectFiles(root, { isTrusted });
        const sent = pathsOf(selection).filter((path) => !/\.(?:git|farwharf)ignore$/.test(path));
        assert.deepEqual(sent, ['extra.py', 'sub/x.py', 'train.py'], `${put.name} ${paths.join()}`);
      }
      for (const path of ['.git/index', '.git/HEAD', '.git', 'sub/.git/HEAD']) {
        const { root } = hostileRepository(t);
        mkdirSync(join(root, 'sub/.git/refs'), { recursive: true });
        mkdirSync(join(root, 'sub/.git/objects'));
        rmSync(join(root, path), { force: true, recursive: true });
        put(root, path);
        const selection = await selectFiles(root, { isTrusted });
        assert.deepEqual(pathsOf(selection), ['extra.py', 'train.py'], `${put.name} ${path}`);
      }
    }
  }
});

test('an ignore file that blocks git is found below a folder of a repository, and above it', async (t) => {
  if (process.platform === 'win32') return t.skip('Windows has no pipes in folders');
  const selectBeside = async (pipe: string): Promise<void> => {
    const { root } = hostileRepository(t);
    writeTree(root, { 'sub/deep/x.py': '' });
    execFileSync('mkfifo', [join(root, pipe)]);
    const selection = await selectFiles(join(root, 'sub/deep'), { isTrusted: true });
    assert.deepEqual(pathsOf(selection), ['x.py'], pipe);
  };
  await Promise.all(['sub/deep/.gitignore', '.gitignore'].map(selectBeside));
});
