import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Index } from '../../../../src/retrieval/index/index.ts';
import type { Commit, ReadCommits } from '../../../../src/retrieval/index/folderHistory.ts';
import { indexPath } from '../../../../src/retrieval/index/indexStore.ts';

const STORED = { signal: new AbortController().signal, isStored: true };
const FILES = {
  'engine.txt': 'pistons turn; the harbor is far',
  'port.txt': 'the harbor wall',
  'sails.txt': 'canvas and rope: harbor',
};
const COMMITS: readonly Commit[] = [
  { id: '3', message: 'Reef the canvas in a storm near the harbor', paths: ['sails.txt'] },
  { id: '2', message: 'Storm warnings', paths: ['engine.txt', 'gone.txt'] },
  { id: '1', message: '', paths: [] },
];

interface Folder {
  readonly root: string;
  readonly home: string;
  open(): Promise<Index>;
}

async function folderOf(t: TestContext): Promise<Folder> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-history-')));
  t.after(() => rm(base, { recursive: true, force: true }));
  const [root, home] = [join(base, 'folder'), join(base, 'home')];
  await mkdir(root);
  for (const [path, text] of Object.entries(FILES)) await writeFile(join(root, path), text);
  return {
    root,
    home,
    async open() {
      const index = await Index.open({ root, home });
      await index.update(Object.keys(FILES));
      return index;
    },
  };
}

/** A repository with these commits, the newest first. */
function history(commits: readonly Commit[]): ReadCommits {
  return async (_folder, { known }) => {
    const head = commits[0]?.id;
    if (head === known.head) return undefined;
    return { head, ids: commits.map(({ id }) => id), added: commits.filter(({ id }) => !known.ids.has(id)) };
  };
}

async function ranks(index: Index, query: string): Promise<readonly string[]> {
  return (await index.search(query, 5)).map(({ path, reasons }) => `${path} ${reasons?.history.toFixed(1)}`);
}

test('a file comes higher if the commits whose messages fit the query changed it', async (t) => {
  const folder = await folderOf(t);
  using index = await folder.open();
  const before = await ranks(index, 'harbor storm');
  assert.equal(before[0], 'port.txt 0.0');
  await index.history.update(history(COMMITS), STORED);
  const [hit, ...others] = await index.search('storm reef harbor', 5);
  assert.equal(hit?.path, 'sails.txt');
  const { keywords = 0, history: own = 0 } = hit?.reasons ?? {};
  assert.ok(own > 0 && keywords > 0, JSON.stringify(hit?.reasons));
  assert.equal(others.length, 2);
  assert.deepEqual(await ranks(index, 'pistons'), ['engine.txt 0.0'], 'no message fits');
  assert.deepEqual(await ranks(index, 'storm'), [], 'a file without a word of the query is not found');
});

test('filters and phrases of a query apply to its results, not to the messages', async (t) => {
  const folder = await folderOf(t);
  using index = await folder.open();
  await index.history.update(history(COMMITS), STORED);
  assert.deepEqual(await ranks(index, 'storm harbor path:sails*'), await ranks(index, 'storm harbor -pistons -wall'));
  assert.notEqual((await index.search('storm "canvas and rope"', 5))[0]?.reasons?.history, 0);
});

test('commits are stored with the index, and a damaged or removed file of them is read from the repository again', async (t) => {
  const folder = await folderOf(t);
  let whole: readonly string[];
  {
    using index = await folder.open();
    await index.history.update(history(COMMITS), STORED);
    whole = await ranks(index, 'harbor storm');
  }
  const file = join(indexPath(folder.home, folder.root), 'commits.json');
  const text = await readFile(file, 'utf8');
  for (const stored of [text, text.replace('Reef', 'Beef'), text.slice(0, -1), '', '{}', undefined]) {
    if (stored === undefined) await rm(file);
    else await writeFile(file, stored);
    using index = await folder.open();
    assert.equal((await ranks(index, 'harbor storm')).join() === whole.join(), stored === text);
    await index.history.update(history(COMMITS), STORED);
    assert.deepEqual(await ranks(index, 'harbor storm'), whole);
  }
});

test('commits that a rebase removed are forgotten, and all of them where there is no repository any more', async (t) => {
  const folder = await folderOf(t);
  using index = await folder.open();
  const before = await ranks(index, 'harbor storm');
  await index.history.update(history(COMMITS), STORED);
  const rebased = [{ ...COMMITS[1], id: '4', message: 'Warnings', paths: ['engine.txt'] }, ...COMMITS.slice(2)];
  await index.history.update(history(rebased), STORED);
  assert.deepEqual(await ranks(index, 'harbor storm'), before);
  await index.history.update(history(COMMITS), STORED);
  await index.history.clear(STORED);
  assert.deepEqual(await ranks(index, 'harbor storm'), before);
  await assert.rejects(readFile(join(indexPath(folder.home, folder.root), 'commits.json')), { code: 'ENOENT' });
});

test('a process that does not write the index uses the commits without storing them', async (t) => {
  const folder = await folderOf(t);
  using index = await folder.open();
  await index.history.update(history(COMMITS), { ...STORED, isStored: false });
  assert.equal((await index.search('storm reef harbor', 5))[0]?.path, 'sails.txt');
  await assert.rejects(readFile(join(indexPath(folder.home, folder.root), 'commits.json')), { code: 'ENOENT' });
});
