import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { silentLogger } from '../../../../../src/core/log.ts';
import { IndexThread } from '../../../../../src/extension/threads/indexThread.ts';
import { SearchIndex } from '../../../../../src/extension/search/index/searchIndex.ts';
import type { OpenFolder } from '../../../../../src/retrieval/folder/indexService.ts';

const SOURCE = join(import.meta.dirname, '../../../../../src');

/** An index of folders with one file each, in a real thread. */
async function openIndex(t: TestContext, files: Readonly<Record<string, string>>, isPaused = false) {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-search-')));
  t.after(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));
  const all: OpenFolder[] = [];
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(base, name));
    await writeFile(join(base, name, 'a.md'), text);
    all.push({ path: join(base, name), isTrusted: false });
  }
  const thread = new IndexThread({
    program: join(SOURCE, 'extension/threads/folderIndexWorker.ts'),
    workerProgram: join(SOURCE, 'retrieval/building/indexWorker.ts'),
    modelProgram: join(SOURCE, 'retrieval/embedding/modelWorker.ts'),
    home: join(base, 'home'),
    log: silentLogger,
  });
  t.after(() => thread.dispose());
  const open = all.slice(0, 1);
  const index = new SearchIndex({ thread, folders: () => open, isPaused });
  t.after(() => index.dispose());
  const find = async (query: string): Promise<readonly string[]> => {
    await index.settle();
    return (await index.search(query, { limit: 5 })).map(({ folder, path }) =>
      join(folder, path).slice(base.length + 1),
    );
  };
  return { all, base, find, index, open };
}

test('nothing is read before the first use, and what was unsaved until then is found as it is on screen', async (t) => {
  const { base, find, index } = await openIndex(t, { one: 'a zebra' });
  await index.setOverlay(join(base, 'one', 'a.md'), 'a walrus');
  await index.notify([{ type: 'changed', path: join(base, 'one', 'a.md') }]);
  assert.deepEqual([index.isStarted, index.status], [false, []]);
  assert.deepEqual(await find('walrus'), [join('one', 'a.md')]);
  assert.deepEqual(await find('zebra'), []);
  await index.setOverlay(join(base, 'one', 'a.md'), undefined);
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
