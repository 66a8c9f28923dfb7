import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withFileLock } from '../../../../src/core/files/fileLock.ts';

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-lock-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

test('work under one lock is done one after the other, and leaves nothing', async (t) => {
  const folder = await folderFor(t);
  const lock = join(folder, 'lock');
  let active = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    active += 1;
    most = Math.max(most, active);
    await sleep(5);
    active -= 1;
  };
  await Promise.all(Array.from({ length: 5 }, () => withFileLock(lock, work, { staleMs: 60_000 })));
  assert.equal(most, 1);
  await assert.rejects(
    withFileLock(lock, () => Promise.reject(new Error('no')), { staleMs: 60_000 }),
    /no/,
  );
  assert.deepEqual(await readdir(folder), []);
});

test('a lock of a process that was killed is taken over, and waiting for another can be stopped', async (t) => {
  const folder = await folderFor(t);
  const lock = join(folder, 'lock');
  await writeFile(lock, '');
  await assert.rejects(
    withFileLock(lock, async () => 1, { staleMs: 60_000, signal: AbortSignal.timeout(50) }),
    {
      name: 'AbortError',
    },
  );
  const hourAgo = new Date(Date.now() - 3_600_000);
  await utimes(lock, hourAgo, hourAgo);
  assert.equal(await withFileLock(lock, async () => 1, { staleMs: 60_000 }), 1);
  assert.deepEqual(await readdir(folder), []);
});

test('a lock is held for as long as its process works, however long that is', async (t) => {
  const lock = join(await folderFor(t), 'lock');
  const order: string[] = [];
  let waits = 0;
  const isWaitedFor = Promise.withResolvers<void>();
  const first = withFileLock(
    lock,
    async () => {
      await isWaitedFor.promise;
      const { mtimeMs } = await stat(lock);
      // The sign of life comes, whenever the machine gets to it.
      while ((await stat(lock)).mtimeMs === mtimeMs) await sleep(10);
      order.push('first');
    },
    { staleMs: 2_000 },
  );
  const second = withFileLock(lock, async () => void order.push('second'), {
    staleMs: 60_000,
    maxWaitMs: 60_000,
    onWait: () => {
      waits += 1;
      isWaitedFor.resolve();
    },
  });
  await Promise.all([first, second]);
  assert.deepEqual(order, ['first', 'second']);
  assert.ok(waits > 0);
});

test('a lock that others hold for too long is a conflict, and one without a folder the error of the system', async (t) => {
  const folder = await folderFor(t);
  const lock = join(folder, 'lock');
  await writeFile(lock, '');
  const work = (): Promise<void> => assert.fail();
  await assert.rejects(withFileLock(lock, work, { staleMs: 60_000, maxWaitMs: 0 }), {
    code: 'conflict',
    message: `Other processes hold the lock ${lock}. Try again.`,
  });
  assert.deepEqual(await readdir(folder), ['lock'], 'it stays theirs');
  await assert.rejects(withFileLock(join(folder, 'none', 'lock'), work, { staleMs: 60_000 }), { code: 'ENOENT' });
});

test('only the user may read a lock', { skip: process.platform === 'win32' }, async (t) => {
  const lock = join(await folderFor(t), 'lock');
  const mode = await withFileLock(lock, async () => (await stat(lock)).mode & 0o777, { staleMs: 60_000 });
  assert.equal(mode, 0o600);
});
