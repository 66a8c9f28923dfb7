import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isRegularFile, readBounded } from '../../../../src/workspace/files/boundedRead.ts';
import { assertUnchanged, openRegularFile, readExactly } from '../../../../src/workspace/files/fileReading.ts';
import { hashFile, LocalFiles } from '../../../../src/workspace/files/localFile.ts';
import { cannotListOpenFiles, openFilesIn } from '../../openFiles.ts';
import { temporaryFolder, writeTree } from '../temporaryFolder.ts';

const skip = process.platform === 'win32' && 'NOT ON WINDOWS: making a link or a pipe needs a right there';
const CHANGED =
  'name changed while it was being packed, so nothing was packed. Wait until nothing writes to it, or leave it out, and try again.';

test('a regular file up to a size is read, through links too, and anything else is not', { skip }, async (t) => {
  const root = temporaryFolder(t);
  writeTree(root, { file: '12345', empty: '', 'folder/x': '' });
  symlinkSync(join(root, 'file'), join(root, 'link'));
  symlinkSync(join(root, 'missing'), join(root, 'broken'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
  for (const [name, most, text] of [
    ['file', 5, '12345'],
    ['file', 4, undefined],
    ['link', 5, '12345'],
    ['empty', 0, ''],
    ['folder', 100_000, undefined],
    ['pipe', 100, undefined],
    ['missing', 100, undefined],
    ['broken', 100, undefined],
  ] as const) {
    assert.equal((await readBounded(join(root, name), most))?.toString(), text, `${name} up to ${most}`);
    assert.equal(await isRegularFile(join(root, name), most), text !== undefined, name);
  }
  if (!cannotListOpenFiles) assert.deepEqual(openFilesIn(root), []);
});

test('a file that is packed is opened without following a link, and each failure says what happened', {
  skip,
}, async (t) => {
  const root = temporaryFolder(t);
  writeTree(root, { file: '12345', 'folder/x': '' });
  symlinkSync(join(root, 'file'), join(root, 'link'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
  const { handle, size, stats } = await openRegularFile(join(root, 'file'), 'name');
  assert.deepEqual([size, stats.size, stats.isFile()], [5, 5n, true]);
  await handle.close();
  const removed = 'name was removed after the files were selected. Submit again.';
  for (const [path, code, message] of [
    ['missing', 'conflict', removed],
    ['file/inside', 'conflict', removed],
    ['link', 'conflict', CHANGED],
    ['folder', 'conflict', CHANGED],
    ['pipe', 'conflict', CHANGED],
  ] as const) {
    await assert.rejects(openRegularFile(join(root, path), 'name'), { code, message }, path);
  }
  await assert.rejects(openRegularFile(join(root, 'x'.repeat(300)), 'name'), {
    code: 'missing',
    message: /^name cannot be read: ENAMETOOLONG: .*\.$/,
  });
  if (!cannotListOpenFiles) assert.deepEqual(openFilesIn(root), []);
});

test('a read that fails says so', async (t) => {
  const root = temporaryFolder(t);
  writeTree(root, { file: '12345' });
  const open = await openRegularFile(join(root, 'file'), 'name');
  await open.handle.close();
  await assert.rejects(readExactly(open, Buffer.alloc(5), 0, 'name'), {
    code: 'missing',
    message: /^name cannot be read: .+\.$/,
  });
});

test('a file that may not be read is an error of its permissions', {
  skip: process.getuid?.() === 0 ? 'SKIPPED: root can read everything; run as another user to check this' : skip,
}, async (t) => {
  const path = join(temporaryFolder(t), 'file');
  writeFileSync(path, '', { mode: 0 });
  await assert.rejects(openRegularFile(path, 'name'), {
    code: 'permission',
    message: 'name cannot be read. Change its permissions or leave it out.',
  });
});

test('a part is read from its place, and a file that became shorter or was touched has changed', async (t) => {
  const path = join(temporaryFolder(t), 'file');
  writeFileSync(path, '0123456789');
  const file = await openRegularFile(path, 'name');
  t.after(() => file.handle.close());
  const part = Buffer.alloc(4);
  await readExactly(file, part, 6, 'name');
  assert.equal(part.toString(), '6789');
  await assertUnchanged(file, 'name');
  await assert.rejects(readExactly(file, part, 7, 'name'), { code: 'conflict', message: CHANGED });
  writeFileSync(path, '9876543210');
  await assert.rejects(assertUnchanged(file, 'name'), { code: 'conflict', message: CHANGED });
  truncateSync(path, 2);
  await assert.rejects(readExactly(file, part, 0, 'name'), { code: 'conflict' });
});

test('what is at a path is found without following a link', { skip }, async (t) => {
  const root = temporaryFolder(t);
  writeTree(root, { 'a/file': '12345', 'real/x': '', blocker: '' });
  symlinkSync(join(root, 'real'), join(root, 'link'));
  mkdirSync(join(root, 'a/folder'));
  const local = new LocalFiles(root);
  const { dev, ino } = statSync(join(root, 'a/file'), { bigint: true });
  const found = local.look('a/file');
  assert.ok(found.type === 'file');
  assert.deepEqual([found.size, found.mark.startsWith(`${dev}:${ino}:5:`)], [5, true]);
  const linked = local.look('link');
  assert.equal(linked.type, 'other');
  for (const [path, expected] of [
    ['a/none', { type: 'none' }],
    ['none/deep/er', { type: 'none' }],
    ['none/other', { type: 'none' }],
    ['a/folder', { type: 'blocked', by: { path: 'a/folder', kind: 'folder' } }],
    ['a', { type: 'blocked', by: { path: 'a', kind: 'folder' } }],
    ['link/x', { type: 'blocked', by: { path: 'link', kind: 'link' } }],
    ['link/deep/x', { type: 'blocked', by: { path: 'link', kind: 'link' } }],
    ['blocker/x', { type: 'blocked', by: { path: 'blocker', kind: 'file' } }],
    ['a/file/x', { type: 'blocked', by: { path: 'a/file', kind: 'file' } }],
  ] as const) {
    assert.deepEqual(local.look(path), expected, path);
  }
  const before = found.mark;
  writeFileSync(join(root, 'a/file'), '54321');
  const after = local.look('a/file');
  assert.ok(after.type === 'file' && after.mark !== before);
});

test('the digest of a file is its SHA-256, and that of a link is refused', { skip }, async (t) => {
  const root = temporaryFolder(t);
  const content = Buffer.alloc(2_500_000, 'x');
  writeTree(root, { 'a/file': content });
  symlinkSync('a/file', join(root, 'link'));
  assert.equal(await hashFile(root, 'a/file'), createHash('sha256').update(content).digest('hex'));
  await assert.rejects(hashFile(root, 'link'), { code: 'conflict' });
  if (!cannotListOpenFiles) assert.deepEqual(openFilesIn(root), []);
});
