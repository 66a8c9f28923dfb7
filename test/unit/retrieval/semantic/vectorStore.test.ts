import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { textKey, VectorStore } from '../../../../src/retrieval/semantic/vectorStore.ts';
import { seeded } from '../../../random.ts';
import { TIMES } from '../../../random.ts';
import { randomText } from '../randomCorpus.ts';
import { WordEmbedder } from './wordEmbedder.ts';

const embedder = new WordEmbedder();

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'farwharf-vectors-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function add(store: VectorStore, texts: readonly string[]): Promise<void> {
  await store.add(texts.map((text) => ({ key: textKey(text), vector: embedder.vectorOf(text) })));
}

async function withStore<T>(path: string | undefined, model: string, work: (store: VectorStore) => T | Promise<T>) {
  const store = await VectorStore.open(path, model);
  try {
    return await work(store);
  } finally {
    store.dispose();
  }
}

const random = seeded(1);
const texts = Array.from({ length: 200 }, (_, at) => `text${at} ${randomText(random, 500, 12)}`);
const query = embedder.vectorOf(texts[7] ?? '');
/** What is exact however the rows are ordered. */
const nearest = (store: VectorStore): { key: string; score: number }[] =>
  store.nearest(query, 10).map(({ key, score }) => ({ key, score }));

test('what is kept is found again with the same scores, and nothing is there for another model', async (t) => {
  const path = await folder(t);
  const before = await withStore(path, 'one', async (store) => {
    await add(store, texts.slice(0, 120));
    await store.flush();
    await add(store, texts.slice(100));
    const found = nearest(store);
    await store.flush();
    assert.deepEqual(nearest(store), found, 'the same from the file as from memory');
    return found;
  });
  assert.equal(before[0]?.key, textKey(texts[7] ?? ''));
  assert.ok(Math.abs((before[0]?.score ?? 0) - 1) < 1e-6);
  await withStore(path, 'one', (store) => assert.deepEqual(nearest(store), before));
  await withStore(path, 'two', (store) => assert.deepEqual([store.count, nearest(store)], [0, []]));
});

test('a text is kept once, however often it is added', async () => {
  await withStore(undefined, 'one', async (store) => {
    await add(store, ['a boat', 'a boat', 'a loaf']);
    await add(store, ['a boat']);
    assert.equal(store.count, 2);
    assert.equal(store.nearest(embedder.vectorOf('ship'), 9).length, 2);
  });
});

test('a file that is cut or has a bit flipped anywhere gives only right vectors', async (t) => {
  const path = await folder(t);
  await withStore(path, 'one', async (store) => {
    await add(store, texts.slice(0, 20));
    await store.flush();
  });
  const [name = ''] = await readdir(path);
  const whole = await readFile(join(path, name));
  const right = new Map(texts.slice(0, 20).map((text) => [textKey(text), embedder.vectorOf(text)]));
  const check = async (damage: string): Promise<void> => {
    await withStore(path, 'one', (store) => {
      assert.ok(store.count < 20, `nothing was noticed: ${damage}`);
      for (const { key, score } of store.nearest(query, 20)) {
        const vector = right.get(key);
        assert.ok(vector, `a key that was never written: ${damage}`);
        const exact = vector.reduce((sum, value, at) => sum + value * (query[at] ?? 0), 0);
        const lengths = Math.hypot(...vector) * Math.hypot(...query);
        assert.ok(Math.abs(score - exact / lengths) < 1e-6, `a wrong vector: ${damage}`);
      }
    });
  };
  for (let at = 0; at < whole.length; at += Math.ceil(211 / TIMES)) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
    await writeFile(join(path, name), damaged);
    await check(`bit ${at % 8} of byte ${at}`);
    await writeFile(join(path, name), whole.subarray(0, at));
    await check(`cut at ${at}`);
  }
});

test('damage while the store is open costs no more than the rounding of the numbers', async (t) => {
  const path = await folder(t);
  await withStore(path, 'one', async (store) => {
    await add(store, texts.slice(0, 50));
    await store.flush();
    const [name = ''] = await readdir(path);
    const exact = new Map(store.nearest(query, 50).map(({ key, score }) => [key, score]));
    const bytes = await readFile(join(path, name));
    await writeFile(join(path, name), bytes.fill(0xff, 200));
    const found = store.nearest(query, 50);
    assert.equal(found[0]?.key, textKey(texts[7] ?? ''));
    for (const { key, score } of found) assert.ok(Math.abs(score - (exact.get(key) ?? 9)) < 0.01);
  });
});

test('many small files become one, and all vectors stay', async (t) => {
  const path = await folder(t);
  for (let from = 0; from < 200; from += 10) {
    await withStore(path, 'one', async (store) => {
      await add(store, texts.slice(from, from + 10));
      await store.flush();
    });
  }
  await withStore(path, 'one', (store) => assert.equal(store.count, 200));
  const files = (await readdir(path)).length;
  assert.ok(files < 17, `${files} files`);
  await withStore(path, 'one', (store) => assert.equal(store.nearest(query, 1)[0]?.key, textKey(texts[7] ?? '')));
});

test('tidying removes other models and damaged files, and texts that are gone once they are the most', async (t) => {
  const path = await folder(t);
  await withStore(path, 'old', async (store) => {
    await add(store, texts);
    await store.flush();
  });
  await writeFile(join(path, 'broken.vectors'), 'not vectors');
  await writeFile(join(path, 'mine.txt'), 'not ours');
  const kept = new Set(texts.slice(0, 50).map(textKey));
  await withStore(path, 'new', async (store) => {
    await add(store, texts.slice(0, 60));
    await store.compact((key) => kept.has(key));
    assert.equal((await readdir(path)).filter((name) => name !== 'mine.txt').length, 1);
    await add(store, texts);
    await store.compact((key) => kept.has(key));
    assert.equal(store.nearest(query, 1)[0]?.key, textKey(texts[7] ?? ''), 'what is open stays readable');
  });
  await withStore(path, 'new', (store) => assert.equal(store.count, 50));
  await withStore(path, 'old', (store) => assert.equal(store.count, 0));
  assert.ok((await readdir(path)).includes('mine.txt'));
});

test('vectors that are empty, not finite or of another length are refused', async () => {
  await withStore(undefined, 'one', async (store) => {
    const vector = (...numbers: number[]) =>
      store.add([{ key: textKey(numbers.join()), vector: Float32Array.from(numbers) }]);
    await assert.rejects(vector(), { code: 'corrupt', message: /^one returned an empty or non-numeric vector/ });
    await assert.rejects(vector(1, Number.NaN), { code: 'corrupt' });
    await vector(1, 2, 3);
    await assert.rejects(vector(1, 2), { code: 'conflict', message: /one returned 2 numbers, and 3 before/ });
    assert.equal(store.count, 1);
  });
});
