import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { AppError } from '../../../../src/core/errors.ts';
import { Index } from '../../../../src/retrieval/index/index.ts';
import { type EmbeddingProgress, FolderVectors } from '../../../../src/retrieval/semantic/folderVectors.ts';
import { WordEmbedder } from './wordEmbedder.ts';

/** A folder with its index and its vectors. */
class Place {
  readonly root: string;
  readonly home: string;
  readonly index: Index;
  readonly #test: TestContext;

  private constructor(t: TestContext, base: string, index: Index) {
    this.#test = t;
    this.root = join(base, 'folder');
    this.home = join(base, 'home');
    this.index = index;
  }

  static async create(t: TestContext, files: Readonly<Record<string, string>>): Promise<Place> {
    const base = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-meaning-')));
    t.after(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));
    await mkdir(join(base, 'folder'));
    const index = await Index.open({ root: join(base, 'folder'), home: join(base, 'home') });
    t.after(() => index[Symbol.dispose]());
    const place = new Place(t, base, index);
    await place.write(files);
    return place;
  }

  async write(files: Readonly<Record<string, string | undefined>>): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(this.root, path)), { recursive: true });
      if (text === undefined) await rm(join(this.root, path));
      else await writeFile(join(this.root, path), text);
    }
    const names = (await readdir(this.root, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    );
    const listed = names.map(async ({ parentPath, name }) => {
      const { size, mtimeMs } = await stat(join(parentPath, name));
      return { path: join(parentPath, name).slice(this.root.length + 1), size, mtimeMs };
    });
    await this.index.sync(await Promise.all(listed));
  }

  async open(embedder: WordEmbedder): Promise<FolderVectors> {
    const vectors = await FolderVectors.open({ root: this.root, home: this.home, embedder });
    this.#test.after(() => vectors.dispose());
    return vectors;
  }

  /** The paths that a fused search finds. */
  async find(vectors: FolderVectors, query: string): Promise<string[]> {
    const hits = await this.index.search(query, 10, { near: await vectors.nearest(query, 10) });
    return hits.map(({ path }) => path);
  }
}

const FILES = {
  'sea.md': '# Harbour\n\nThe vessel lies at anchor.\n',
  'food.md': '# Kitchen\n\nA baguette in the oven.\n',
  'both.txt': 'The boat brings flour.\n',
};
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}.txt`, `number ${at}`]));

test('what means the same is found by other words, and counts with the words together', async (t) => {
  const place = await Place.create(t, FILES);
  const vectors = await place.open(new WordEmbedder());
  assert.deepEqual(await place.find(vectors, 'ship'), [], 'no word of it is there');
  await vectors.embed(place.index.sources());
  assert.deepEqual(vectors.state, { type: 'ready' });
  assert.deepEqual((await place.find(vectors, 'ship')).slice(0, 2).sort(), ['both.txt', 'sea.md']);
  assert.equal((await place.find(vectors, 'flour ship'))[0], 'both.txt', 'good in both rankings');
  assert.deepEqual(await place.find(vectors, 'zebra'), [], 'what has nothing in common with the query is not found');
  const [hit] = await place.index.search('ship', 1, { near: await vectors.nearest('ship', 10) });
  assert.match(hit?.text ?? '', /boat|vessel/);
  assert.ok((hit?.startLine ?? 0) >= 1);
});

test('a folder is not ready while its files are being located, though none is missing a vector yet', async (t) => {
  const place = await Place.create(t, many(3));
  const vectors = await place.open(new WordEmbedder());
  const states: string[] = [];
  function* sources() {
    for (const source of place.index.sources()) {
      states.push(vectors.state.type);
      yield source;
    }
  }
  await vectors.embed(sources());
  assert.deepEqual(states, ['unfinished', 'unfinished', 'unfinished']);
  assert.deepEqual(vectors.state, { type: 'ready' });
});

test('filters hold for what is found by meaning', async (t) => {
  const place = await Place.create(t, FILES);
  const vectors = await place.open(new WordEmbedder());
  await vectors.embed(place.index.sources());
  const near = await vectors.nearest('ship', 10);
  const paths = (await place.index.search('ship path:*.md', 10, { near })).map(({ path }) => path);
  assert.ok(paths.length > 0 && paths.every((path) => path.endsWith('.md')), paths.join());
});

test('the estimate names texts, tokens and price, and embeds nothing', async (t) => {
  const place = await Place.create(t, { 'a.txt': 'x'.repeat(1199), 'b.txt': 'same', 'c.txt': 'same' });
  const dear = new WordEmbedder('dear', { dollars: 20 });
  const vectors = await place.open(dear);
  const estimate = await vectors.estimate(place.index.sources());
  assert.deepEqual(estimate, { texts: 2, known: 1, tokens: 401, dollars: (401 * 20) / 1e6 });
  assert.deepEqual(dear.embedded, []);
  assert.deepEqual(vectors.state, { type: 'unfinished', done: 0, total: 2, reason: 'not started' });
  const unknown = await place.open(new WordEmbedder('unknown'));
  assert.equal((await unknown.estimate(place.index.sources())).dollars, undefined);
  await vectors.embed(place.index.sources());
  assert.deepEqual(await vectors.estimate(place.index.sources()), { texts: 0, known: 3, tokens: 0, dollars: 0 });
});

test('an unchanged text is never embedded again, not in a moved file nor by another process', async (t) => {
  const place = await Place.create(t, FILES);
  const embedder = new WordEmbedder();
  await (await place.open(embedder)).embed(place.index.sources());
  assert.equal(embedder.embedded.length, 3);
  embedder.embedded.length = 0;
  await place.write({ 'sea.md': undefined, 'moved/sea.md': FILES['sea.md'], 'food.md': '# Kitchen\n\nA loaf.\n' });
  const again = await place.open(embedder);
  assert.deepEqual(again.state, { type: 'ready' }, 'as it was left');
  await again.embed(place.index.sources());
  assert.deepEqual(embedder.embedded, ['# Kitchen\n\nA loaf.']);
  assert.ok((await place.find(again, 'ship')).includes('moved/sea.md'));
});

test('another model starts anew, and what it takes the place of goes when it is done', async (t) => {
  const place = await Place.create(t, FILES);
  await (await place.open(new WordEmbedder('one'))).embed(place.index.sources());
  const two = new WordEmbedder('two', { dimensions: 32 });
  const vectors = await place.open(two);
  assert.equal(vectors.state.type, 'unfinished');
  assert.deepEqual(await vectors.nearest('ship', 5), []);
  await vectors.embed(place.index.sources());
  assert.equal(two.embedded.length, 3);
  assert.equal((await place.open(new WordEmbedder('one'))).state.type, 'unfinished');
});

test('progress is reported, a stop keeps what is done, and the next run continues from there', async (t) => {
  const place = await Place.create(t, many(600));
  const embedder = new WordEmbedder();
  const vectors = await place.open(embedder);
  const stop = new AbortController();
  const reported: EmbeddingProgress[] = [];
  const onProgress = (progress: EmbeddingProgress): void => {
    reported.push(progress);
    if (progress.done >= 200) stop.abort();
  };
  await assert.rejects(vectors.embed(place.index.sources(), { signal: stop.signal, onProgress }), {
    name: 'AbortError',
  });
  assert.deepEqual(reported[0], { done: 0, total: 600 });
  const { state } = vectors;
  assert.ok(state.type === 'unfinished' && state.reason === 'stopped' && state.done >= 200 && state.done < 600);
  assert.deepEqual(await vectors.nearest('ship', 5), [], 'by words alone until it is complete');
  const first = embedder.embedded.length;
  const resumed = await place.open(embedder);
  await resumed.embed(place.index.sources());
  assert.deepEqual(resumed.state, { type: 'ready' });
  assert.equal(embedder.embedded.length, 600, `${first} of them before the stop`);
});

test('a failure stops embedding with its reason, keeps what is done, and keyword search still works', async (t) => {
  const place = await Place.create(t, many(300));
  const embedder = new WordEmbedder();
  embedder.before = () => {
    if (embedder.embedded.length >= 128) throw new AppError('unreachable', 'The service is away.');
  };
  const vectors = await place.open(embedder);
  await assert.rejects(vectors.embed(place.index.sources()), /The service is away/);
  const { state } = vectors;
  assert.ok(state.type === 'unfinished' && state.reason === 'The service is away.' && state.done >= 128);
  embedder.before = () => {};
  await vectors.embed(place.index.sources());
  embedder.before = () => {
    throw new AppError('unreachable', 'The service is away again.');
  };
  assert.deepEqual(await vectors.nearest('number', 3), []);
  assert.deepEqual(vectors.state, { type: 'failed', reason: 'The service is away again.' });
  assert.ok((await place.find(vectors, 'number 7')).length > 0);
  embedder.before = () => {};
  assert.equal((await vectors.nearest('number', 3)).length, 3);
  assert.deepEqual(vectors.state, { type: 'ready' });
});

test('a text that the model refuses is passed over, and the others of its batch are not', async (t) => {
  const place = await Place.create(t, { ...many(100), 'bad.txt': 'poison' });
  const embedder = new WordEmbedder();
  embedder.before = (texts) => {
    if (texts.includes('poison')) throw new AppError('bad-input', 'Too long.');
  };
  const vectors = await place.open(embedder);
  await vectors.embed(place.index.sources());
  assert.equal(embedder.embedded.length, 100);
  assert.deepEqual(vectors.state, { type: 'ready' });
});

test('one process embeds a folder at a time, and no query is embedded twice', async (t) => {
  const place = await Place.create(t, FILES);
  const embedder = new WordEmbedder();
  const [first, second] = [await place.open(embedder), await place.open(embedder)];
  embedder.before = async () => {
    embedder.before = () => {};
    await assert.rejects(second.embed(place.index.sources()), { code: 'conflict' });
  };
  await first.embed(place.index.sources());
  embedder.embedded.length = 0;
  await first.nearest('ship', 3);
  await first.nearest('ship', 3);
  assert.deepEqual(embedder.embedded, ['ship']);
});

test('damaged files are embedded again and never give a wrong place', async (t) => {
  const place = await Place.create(t, FILES);
  const embedder = new WordEmbedder();
  await (await place.open(embedder)).embed(place.index.sources());
  const [folder = ''] = await readdir(join(place.home, 'vectors'));
  const path = join(place.home, 'vectors', folder);
  for (const name of await readdir(path)) {
    if (name === 'writer.lock') continue;
    const whole = await readFile(join(path, name));
    for (let at = 0; at < whole.length; at += 41) {
      await writeFile(join(path, name), whole.subarray(0, at));
      const vectors = await place.open(embedder);
      await vectors.embed(place.index.sources());
      assert.equal(vectors.state.type, 'ready', `${name} cut at ${at}`);
      assert.ok((await place.find(vectors, 'ship')).slice(0, 2).includes('sea.md'), `${name} cut at ${at}`);
      vectors.dispose();
    }
  }
});
