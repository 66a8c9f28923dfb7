import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger } from '../../../../src/core/log.ts';
import { IndexThread } from '../../../../src/extension/threads/indexThread.ts';
import type { FolderStatus } from '../../../../src/retrieval/folder/indexService.ts';
import { GUARD_MS } from '../../timeLimits.ts';

const SOURCE = join(import.meta.dirname, '../../../../src');

test('a folder is built, searched and told about through its thread', async (t) => {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-thread-')));
  t.after(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));
  const folder = join(base, 'folder');
  await mkdir(folder);
  await writeFile(join(folder, 'zoo.md'), '# Zoo\n\nA zebra.\n');
  const options = {
    program: join(SOURCE, 'extension/threads/folderIndexWorker.ts'),
    workerProgram: join(SOURCE, 'retrieval/building/indexWorker.ts'),
    modelProgram: join(SOURCE, 'retrieval/embedding/modelWorker.ts'),
    home: join(base, 'home'),
    log: silentLogger,
  };
  const thread = new IndexThread(options);
  t.after(() => thread.dispose());
  const ready = new Promise<FolderStatus>((resolve) => {
    thread.onDidChangeStatus(([status]) => status?.state === 'ready' && resolve(status));
  });
  await thread.open([{ path: folder, isTrusted: false }]);
  await thread.index.settle();
  const [hit] = await thread.index.search('zebras', { limit: 5 });
  assert.deepEqual([hit?.folder, hit?.path, hit?.startLine], [folder, 'zoo.md', 1]);
  assert.deepEqual([(await ready).files, thread.status[0]?.isWriter], [1, true]);
  thread.dispose();
  const next = new IndexThread(options);
  t.after(() => next.dispose());
  await next.open([{ path: folder, isTrusted: false }]);
  for (const deadline = performance.now() + GUARD_MS; next.status[0]?.isWriter !== true; await sleep(50)) {
    assert.ok(performance.now() < deadline, 'a thread that was ended holds no lock');
  }
});
