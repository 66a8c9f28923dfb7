import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RecentFiles } from '../../../../src/retrieval/index/recentFiles.ts';

async function temporaryFolder(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'farwharf-recent-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  return root;
}

test('a file that has not changed is read once', async (t) => {
  const root = await temporaryFolder(t);
  await writeFile(join(root, 'a.txt'), 'one');
  const later = new RecentFiles(root, () => Date.now() + 60_000);
  assert.equal(later.read('a.txt'), later.read('a.txt'));
  assert.equal(later.read('a.txt')?.chunks[0]?.text, 'one');
});

test('a change is seen, also with the same size and time, in a tick of the clock, and by another file', async (t) => {
  const root = await temporaryFolder(t);
  const file = join(root, 'a.txt');
  const [now, later] = [new RecentFiles(root), new RecentFiles(root, () => Date.now() + 60_000)];
  const texts = (): (string | undefined)[] => [now, later].map((files) => files.read('a.txt')?.chunks[0]?.text);
  await writeFile(file, 'one');
  const { atime, mtime } = await stat(file);
  assert.deepEqual(texts(), ['one', 'one']);
  await sleep(20); // more than a tick of this file system's clock
  await writeFile(file, 'two');
  await utimes(file, atime, mtime);
  assert.deepEqual(texts(), ['two', 'two']);
  await writeFile(join(root, 'b.txt'), 'six');
  await utimes(join(root, 'b.txt'), atime, mtime);
  await rename(join(root, 'b.txt'), file);
  assert.deepEqual(texts(), ['six', 'six']);
  await rm(file);
  assert.deepEqual([now.read('a.txt'), later.read('a.txt')], [undefined, undefined]);
});

test('files beyond the most bytes are read again', async (t) => {
  const root = await temporaryFolder(t);
  const text = 'word '.repeat(199_000);
  const names = Array.from({ length: 20 }, (_, at) => `${at}.txt`);
  for (const name of names) await writeFile(join(root, name), text);
  const files = new RecentFiles(root, () => Date.now() + 60_000);
  const [first] = names.map((name) => files.read(name));
  assert.notEqual(files.read('0.txt'), first);
  const last = files.read('19.txt');
  assert.equal(files.read('19.txt'), last);
});
