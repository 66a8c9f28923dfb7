import assert from 'node:assert/strict';
import { linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { placeAtomically, writeAtomically, writeAtomicallySync } from '../../../../src/core/files/atomicFile.ts';
import { smallDisk } from '../../../smallDisk.ts';
import { temporaryFolder } from '../../workspace/temporaryFolder.ts';

const WAYS = [
  ['at once', writeAtomicallySync],
  ['in its turn', writeAtomically],
] as const;

test('the parts of a file are written in order', async (t) => {
  const path = join(temporaryFolder(t), 'file');
  // A system takes 1,024 parts in one call.
  const parts = Array.from({ length: 3_000 }, (_, index) => Buffer.from(`part ${index}\n`));
  await writeAtomically(path, parts, { isDurable: true });
  assert.ok(readFileSync(path).equals(Buffer.concat(parts)));
  await writeAtomically(path, []);
  assert.equal(readFileSync(path, 'utf8'), '');
  if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o777, 0o600);
});

for (const [how, write] of WAYS) {
  test(`a file is replaced, for this user only unless said otherwise, ${how}`, async (t) => {
    const path = join(temporaryFolder(t), 'file');
    writeFileSync(path, 'old', { mode: 0o644 });
    await write(path, 'new', { isDurable: true });
    assert.equal(readFileSync(path, 'utf8'), 'new');
    if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o777, 0o600);
    await write(path, Buffer.from('newer'), { mode: 0o640 });
    assert.equal(readFileSync(path, 'utf8'), 'newer');
    if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o777, 0o640 & ~process.umask());
  });

  test(`a link is replaced, and what it leads to stays, ${how}`, async (t) => {
    if (process.platform === 'win32') return t.skip('making a link needs a right on Windows');
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, 'other'), 'of others');
    symlinkSync(join(folder, 'other'), join(folder, 'file'));
    await write(join(folder, 'file'), 'mine');
    assert.equal(readFileSync(join(folder, 'other'), 'utf8'), 'of others');
    assert.equal(readFileSync(join(folder, 'file'), 'utf8'), 'mine');
  });

  test(`what cannot be put in its place leaves nothing, ${how}`, async (t) => {
    const folder = temporaryFolder(t);
    mkdirSync(join(folder, 'file/inner'), { recursive: true });
    await assert.rejects(async () => write(join(folder, 'file'), 'text'));
    assert.deepEqual(readdirSync(folder), ['file']);
  });

  test(`a full disk leaves the old file and nothing else, ${how}`, async (t) => {
    const small = smallDisk(t);
    if (small === undefined) return;
    const path = join(small.disk, 'file');
    writeFileSync(path, 'old');
    small.fill();
    await assert.rejects(async () => write(path, 'x'.repeat(100_000)), { code: 'ENOSPC' });
    assert.equal(readFileSync(path, 'utf8'), 'old');
    assert.deepEqual(
      readdirSync(small.disk).filter((name) => name.endsWith('.tmp')),
      [],
    );
  });
}

test('a link to what was written takes no place that is taken', (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'file');
  const link = (unfinished: string): void => linkSync(unfinished, path);
  placeAtomically(path, 'first', link, { isDurable: true });
  assert.throws(() => placeAtomically(path, 'second', link), { code: 'EEXIST' });
  assert.equal(readFileSync(path, 'utf8'), 'first');
  assert.deepEqual(readdirSync(folder), ['file']);
});
