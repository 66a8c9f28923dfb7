import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger } from '../../../../../src/core/log.ts';
import { SearchIndex } from '../../../../../src/extension/search/index/searchIndex.ts';
import type { WatchedFolder } from '../../../../../src/retrieval/server/folderIndex.ts';
import { GUARD_MS } from '../../../timeLimits.ts';

const SOURCE = join(import.meta.dirname, '../../../../../src');

/** An index of folders with one file each, in a real process. */
async function openIndex(t: TestContext, files: Readonly<Record<string, string>>, options: { idleMs?: number } = {}) {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-search-')));
  t.after(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));
  const all: WatchedFolder[] = [];
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(base, name));
    await writeFile(join(base, name, 'a.md'), text);
    all.push({ path: join(base, name), isTrusted: false });
  }
  const open = all.slice(0, 1);
  const newIndex = (): SearchIndex => {
    const added = new SearchIndex({
      program: join(SOURCE, 'extension/threads/folderIndexWorker.ts'),
      workerProgram: join(SOURCE, 'retrieval/index/indexWorker.ts'),
      modelProgram: join(SOURCE, 'retrieval/semantic/modelWorker.ts'),
      home: join(base, 'home'),
      log: silentLogger,
      folders: () => open,
      isPaused: false,
      ...options,
    });
    t.after(() => added.dispose());
    return added;
  };
  const index = newIndex();
  const search = async (query: string): Promise<readonly string[]> =>
    (await index.call((server) => server.searchFolders(query, { limit: 5 }))).map(({ folder, path }) =>
      join(folder, path).slice(base.length + 1),
    );
  const find = async (query: string): Promise<readonly string[]> => {
    await index.call((server) => server.settle());
    return search(query);
  };
  return { all, base, find, index, newIndex, open, search };
}

test('nothing is read before the first use, and what was unsaved until then is found as it is on screen', async (t) => {
  const { base, find, index } = await openIndex(t, { one: 'a zebra' });
  await index.setUnsavedText(join(base, 'one', 'a.md'), 'a walrus');
  await index.notify([{ type: 'changed', path: join(base, 'one', 'a.md') }]);
  assert.deepEqual([index.isStarted, index.status], [false, []]);
  assert.deepEqual(await find('walrus'), [join('one', 'a.md')]);
  assert.deepEqual(await find('zebra'), []);
  await index.setUnsavedText(join(base, 'one', 'a.md'), undefined);
  assert.deepEqual(await find('zebra'), [join('one', 'a.md')]);
});

test('a folder that is added is searched, and one that is closed is not', async (t) => {
  const { all, find, index, open } = await openIndex(t, { one: 'a zebra', two: 'a zebra' });
  assert.deepEqual(await find('zebra'), [join('one', 'a.md')]);
  open.splice(0, 1, ...all);
  await index.updateFolders();
  assert.deepEqual((await find('zebra')).toSorted(), [join('one', 'a.md'), join('two', 'a.md')]);
  open.splice(0, 1);
  await index.updateFolders();
  assert.deepEqual(await find('zebra'), [join('two', 'a.md')]);
});

test('what is saved in no file yet is found in a folder that is added later', async (t) => {
  const { all, base, find, index, open } = await openIndex(t, { one: 'a zebra', two: 'a zebra' });
  await index.start();
  await index.setUnsavedText(join(base, 'two', 'a.md'), 'a walrus');
  open.splice(0, 1, ...all);
  await index.updateFolders();
  assert.deepEqual(await find('walrus'), [join('two', 'a.md')]);
});

test('the status of a folder is reported, and an index that was disposed holds no lock', async (t) => {
  const { index, newIndex } = await openIndex(t, { one: 'a zebra' });
  const ready = new Promise<void>((resolve) => {
    index.onDidChange(() => index.status[0]?.state === 'ready' && resolve());
  });
  await index.start();
  await ready;
  assert.deepEqual([index.status[0]?.files, index.status[0]?.isWriter], [1, true]);
  index.dispose();
  const next = newIndex();
  await next.start();
  for (const deadline = performance.now() + GUARD_MS; next.status[0]?.isWriter !== true; await sleep(50)) {
    assert.ok(performance.now() < deadline, 'a process that was ended holds no lock');
  }
});

test('an idle process stops and starts again for a search, a save or a resume, and nothing is lost', async (t) => {
  const { base, find, index, search } = await openIndex(t, { one: 'a zebra' }, { idleMs: 10 });
  // The wait for idleness keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(alive));
  const untilStopped = async (): Promise<void> => {
    while (index.isRunning) await sleep(5);
    assert.deepEqual([index.isStarted, index.status[0]?.files], [true, 1], 'the last status is still shown');
  };
  const path = join(base, 'one', 'a.md');
  assert.deepEqual(await find('zebra'), [join('one', 'a.md')]);
  await untilStopped();
  await index.setUnsavedText(path, 'a walrus');
  assert.equal(index.isRunning, false, 'typing needs no process');
  assert.deepEqual(await search('walrus'), [join('one', 'a.md')], 'the first search waits until the index is open');
  await untilStopped();
  await index.setUnsavedText(path, undefined);
  await writeFile(path, 'a heron');
  await index.notify([{ type: 'changed', path }]);
  assert.equal(index.isRunning, true);
  assert.deepEqual(await find('heron'), [join('one', 'a.md')]);
  await writeFile(join(base, 'one', '.env'), 'TOKEN=1');
  await untilStopped();
  assert.equal((await index.call((server) => server.skipped(join(base, 'one'), { limit: 5 }))).items[0]?.path, '.env');
  await index.setPaused(true);
  await untilStopped();
  await writeFile(path, 'a pelican');
  await index.setPaused(false);
  assert.deepEqual(await find('pelican'), [join('one', 'a.md')]);
});
