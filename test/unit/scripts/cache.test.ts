import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { withLock } from '../../../scripts/vscode/cache.ts';

suite('the lock of the set-up', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'farwharf-lock-'));
  });
  after(() => rm(folder, { recursive: true }));

  const nobodyWaits = (pid: number) => assert.fail(`waits for ${pid}`);

  test('gives what the work gives and is gone afterwards', async () => {
    const path = join(folder, 'plain.lock');
    assert.equal(await withLock(path, nobodyWaits, async () => existsSync(path)), true);
    assert.equal(existsSync(path), false);
  });

  test('is gone after work that failed', async () => {
    const path = join(folder, 'failed.lock');
    await assert.rejects(
      withLock(path, nobodyWaits, async () => {
        throw new Error('no network');
      }),
      /no network/,
    );
    assert.equal(existsSync(path), false);
  });

  test('of a process that died is taken over', async () => {
    const path = join(folder, 'stale.lock');
    const { pid } = spawnSync(process.execPath, ['--version']);
    await writeFile(path, String(pid));
    assert.equal(await withLock(path, nobodyWaits, async () => 'done'), 'done');
  });

  test('of a running process is waited for, and its owner is named once', async () => {
    const path = join(folder, 'held.lock');
    const order: string[] = [];
    const first = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const holding = withLock(path, nobodyWaits, async () => {
      started.resolve();
      await first.promise;
      order.push('first');
    });
    await started.promise;
    const waiting = withLock(
      path,
      (pid) => {
        order.push(`waits for ${pid}`);
        first.resolve();
      },
      async () => order.push('second'),
    );
    await Promise.all([holding, waiting]);
    assert.deepEqual(order, [`waits for ${process.pid}`, 'first', 'second']);
  });
});
