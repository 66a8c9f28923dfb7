import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../../src/core/errors.ts';
import type { FolderStatus } from '../../../../src/retrieval/server/folderIndex.ts';
import { IndexServer } from '../../../../src/retrieval/server/indexServer.ts';
import { writeEmbeddingChoice } from '../../../../src/retrieval/semantic/embeddingChoice.ts';
import { inspectSearchable, selectSearchable } from '../../../../src/workspace/select/searchableFiles.ts';
import { WordEmbedder } from './wordEmbedder.ts';
import { GUARD_MS } from '../../timeLimits.ts';

const WORKER = join(import.meta.dirname, '../../../../src/retrieval/index/indexWorker.ts');

class LocalWords extends WordEmbedder {
  isOpen = true;
  dispose(): void {
    this.isOpen = false;
  }
}

async function openWindow(t: TestContext, openModel: () => Promise<LocalWords>) {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-live-meaning-')));
  const [folder, home] = [join(base, 'folder'), join(base, 'home')];
  await mkdir(folder);
  await writeFile(join(folder, 'sea.md'), 'The vessel is here.\n');
  await writeFile(join(folder, 'food.md'), 'The baguette is here.\n');
  const selector = { select: selectSearchable, inspect: inspectSearchable };
  const index = new IndexServer({
    home,
    workerProgram: WORKER,
    selector,
    openModel: ({ provider }) => (provider === 'local' ? openModel() : undefined),
  });
  t.after(async () => {
    index.dispose(); // what it writes just then is done soon after
    await rm(base, { recursive: true, force: true, maxRetries: 20 });
  });
  await index.open([{ path: folder, isTrusted: false }]);
  await index.settle();
  const until = async (isSo: (semantic: FolderStatus['semantic']) => boolean): Promise<void> => {
    for (const end = Date.now() + GUARD_MS; ; ) {
      const [status] = await index.status();
      if (isSo(status?.semantic)) return;
      assert.ok(Date.now() < end, `it stays ${JSON.stringify(status?.semantic)}`);
      await sleep(20);
    }
  };
  const find = async (query: string, isTyping = false): Promise<string[]> =>
    (await index.searchFolders(query, { limit: 5, isTyping })).map(({ path }) => path);
  const choose = async (provider: string | undefined): Promise<void> => {
    await writeEmbeddingChoice(home, folder, provider === undefined ? undefined : { provider });
    await index.reloadEmbeddingModel();
  };
  return { folder, index, until, find, choose };
}

test('an open folder is ranked by meaning once a model is chosen, keeps up with changes, and not any more when it is not', async (t) => {
  const model = new LocalWords();
  const { folder, index, until, find, choose } = await openWindow(t, async () => model);
  assert.deepEqual(await find('ship'), [], 'off until it is chosen');
  assert.equal((await index.status())[0]?.semantic, undefined);
  await choose('local');
  await until((semantic) => semantic?.type === 'ready');
  assert.equal((await find('ship'))[0], 'sea.md');
  assert.equal((await index.related('a boat', { limit: 1 }))[0]?.path, 'sea.md');
  model.embedded.length = 0;
  assert.deepEqual(await find('ship', true), [], 'not while the word is being typed');
  assert.equal(model.embedded.length, 0);
  const paused = await index.searchFolders('ship', { limit: 5, isTyping: true, isSemantic: true });
  assert.equal(paused[0]?.path, 'sea.md', 'but when that is asked for');

  await writeFile(join(folder, 'food.md'), 'The boat is here.\n');
  await index.notify([{ type: 'changed', path: join(folder, 'food.md') }]);
  await index.settle();
  for (const end = Date.now() + GUARD_MS; !(await find('ship')).includes('food.md'); ) {
    assert.ok(Date.now() < end, 'the change is not embedded');
    await sleep(50);
  }
  assert.deepEqual(
    model.embedded.filter((text) => text !== 'ship'),
    ['The boat is here.'],
  );
  await choose(undefined);
  assert.deepEqual(await find('ship'), []);
  assert.equal(model.isOpen, false);
});

test('on battery few texts are embedded and many wait for power', async (t) => {
  const model = new LocalWords();
  const { folder, index, until, choose } = await openWindow(t, async () => model);
  await choose('local');
  await until((semantic) => semantic?.type === 'ready');
  await index.saveEnergy(true);
  const write = async (name: string, chunks: number): Promise<void> => {
    const text = Array.from({ length: chunks }, (_, number) => `# Part ${number} of ${name}\n\nThe boat is here.\n`);
    await writeFile(join(folder, name), text.join('\n'));
    await index.notify([{ type: 'created', path: join(folder, name) }]);
    await index.settle();
  };
  await write('few.md', 20);
  await until(() => model.embedded.some((text) => text.includes('few.md')));
  await write('many.md', 200);
  await until((semantic) => semantic?.type === 'unfinished' && /waits for power/.test(semantic.reason ?? ''));
  await index.saveEnergy(false);
  await until((semantic) => semantic?.type === 'ready');
});

test('a model that cannot be opened is reported, and keyword search still works', async (t) => {
  const { until, find, choose } = await openWindow(t, () =>
    Promise.reject(new AppError('missing', 'There is no model.')),
  );
  await choose('local');
  await until((semantic) => semantic?.type === 'failed' && semantic.reason === 'There is no model.');
  assert.deepEqual(await find('vessel'), ['sea.md']);
});

test('what a service embeds is left alone', async (t) => {
  const model = new LocalWords();
  const { index, find, choose } = await openWindow(t, async () => model);
  await choose('openai');
  assert.equal((await index.status())[0]?.semantic, undefined);
  assert.deepEqual(await find('ship'), []);
  assert.deepEqual(model.embedded, []);
});
