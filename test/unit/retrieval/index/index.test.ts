import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Index } from '../../../../src/retrieval/index/index.ts';
import type { ListedFile } from '../../../../src/retrieval/index/indexedFile.ts';
import { indexPath } from '../../../../src/retrieval/index/indexStore.ts';
import { GUARD_MS } from '../../timeLimits.ts';
import { seeded, TIMES } from '../../../random.ts';
import { randomText } from '../randomCorpus.ts';

const WORKER = join(import.meta.dirname, '../../../../src/retrieval/index/indexWorker.ts');
// Past the tick of every file system's clock, so that times are relied on.
const EDITS = 120 * TIMES;
const LONG_AGO = new Date('2026-01-01T00:00:00Z');

class Place {
  readonly root: string;
  readonly home: string;

  private constructor(base: string) {
    this.root = join(base, 'folder');
    this.home = join(base, 'home');
  }

  static async create(t: TestContext, files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<Place> {
    const base = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-index-')));
    t.after(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));
    const place = new Place(base);
    await mkdir(place.root);
    for (const [path, content] of Object.entries(files)) await place.write(path, content);
    return place;
  }

  async write(path: string, content: string | Uint8Array, time = LONG_AGO): Promise<void> {
    await mkdir(dirname(join(this.root, path)), { recursive: true });
    await writeFile(join(this.root, path), content);
    await utimes(join(this.root, path), time, time);
  }

  async list(): Promise<ListedFile[]> {
    const entries = await readdir(this.root, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return Promise.all(
      files.sort().map(async (file) => {
        const { size, mtimeMs } = await stat(file);
        return { path: file.slice(this.root.length + 1), size, mtimeMs };
      }),
    );
  }

  open(workerProgram?: string): Promise<Index> {
    return Index.open({ root: this.root, home: this.home, workerProgram });
  }

  /** What an index gives that never saw another state of the folder. */
  async searchFresh(query: string, limit: number): Promise<string[]> {
    const home = `${this.home}-fresh`;
    await rm(home, { recursive: true, force: true });
    using index = await Index.open({ root: this.root, home });
    await index.sync(await this.list());
    return await found(index, query, limit);
  }
}

async function found(index: Index, query: string, limit = 10): Promise<string[]> {
  const hits = await index.search(query, limit);
  return hits.map(({ path, startLine, endLine, score, text }) => `${path}:${startLine}-${endLine} ${score} ${text}`);
}

const pathsOf = async (index: Index, query: string): Promise<string[]> =>
  (await index.search(query, 10)).map(({ path }) => path);

const FRUIT = {
  'fruit/apple.md': '# Apples\n\nAn apple a day keeps the doctor away.\n',
  'fruit/pear.txt': 'Pears grow on trees.\n',
  'code/retry.ts': 'export function retryDelay(attempt: number): number {\n  return 2 ** attempt;\n}\n',
};

test('a folder is searched with text, lines and names', async (t) => {
  const place = await Place.create(t, FRUIT);
  using index = await place.open();
  assert.deepEqual(await index.sync(await place.list()), { added: 3, changed: 0, removed: 0, unchanged: 0 });
  const [hit] = await index.search('retry delay', 5, { isByPlace: true });
  assert.deepEqual(
    { ...hit, score: 0 },
    {
      path: 'code/retry.ts',
      startLine: 1,
      endLine: 3,
      score: 0,
      text: FRUIT['code/retry.ts'].trimEnd(),
      symbols: ['retryDelay'],
      scope: [],
    },
  );
  assert.deepEqual(index.stats, { files: 3, chunks: 3, skipped: {} });
});

test('opened again it is as it was left, and changes made meanwhile are found', async (t) => {
  const place = await Place.create(t, FRUIT);
  {
    using index = await place.open();
    await index.sync(await place.list());
  }
  await place.write('fruit/pear.txt', 'Plums now.\n');
  await place.write('fruit/fig.txt', 'A fig.\n');
  await rm(join(place.root, 'fruit/apple.md'));
  using index = await place.open();
  assert.equal(index.stats.files, 3);
  assert.deepEqual(await index.sync(await place.list()), { added: 1, changed: 1, removed: 1, unchanged: 1 });
  assert.deepEqual(await pathsOf(index, 'plums'), ['fruit/pear.txt']);
  assert.deepEqual(await pathsOf(index, 'figs'), ['fruit/fig.txt']);
  assert.deepEqual(await pathsOf(index, 'apple'), []);
  assert.deepEqual(await index.sync(await place.list()), { added: 0, changed: 0, removed: 0, unchanged: 3 });
});

test('a file that was touched is not indexed again, and its new time is remembered', async (t) => {
  const place = await Place.create(t, FRUIT);
  {
    using index = await place.open();
    await index.sync(await place.list());
    const later = new Date('2026-02-02T00:00:00Z');
    await utimes(join(place.root, 'fruit/pear.txt'), later, later);
    const before = await readdir(indexPath(place.home, place.root));
    assert.deepEqual(await index.sync(await place.list()), { added: 0, changed: 0, removed: 0, unchanged: 3 });
    assert.deepEqual(await readdir(indexPath(place.home, place.root)), before);
  }
  // Other bytes of the same size and time: only reading the file shows the change. It was not read, so the time is remembered.
  await place.write('fruit/pear.txt', 'Pears grew on trees.\n', new Date('2026-02-02T00:00:00Z'));
  using index = await place.open();
  assert.equal((await index.sync(await place.list())).unchanged, 3);
});

test('a file that is not what was indexed is indexed again before it is shown', async (t) => {
  const place = await Place.create(t, FRUIT);
  using index = await place.open();
  await index.sync(await place.list());
  await place.write('fruit/pear.txt', 'Pears grow on doors.\n');
  assert.deepEqual(await index.search('trees', 5), []);
  assert.deepEqual(await pathsOf(index, 'doors'), ['fruit/pear.txt']);
  await rm(join(place.root, 'fruit/pear.txt'));
  assert.deepEqual(await index.search('doors', 5), []);
  assert.equal(index.stats.files, 2);
});

test('a file that was just written is looked at again, even with the same size and time', async (t) => {
  const place = await Place.create(t);
  const now = new Date();
  await place.write('a.txt', 'one', now);
  using index = await place.open();
  await index.sync(await place.list());
  await place.write('a.txt', 'two', now);
  assert.equal((await index.sync(await place.list())).changed, 1);
  assert.deepEqual(await pathsOf(index, 'two'), ['a.txt']);
});

test('a renamed file is found by its new path alone', async (t) => {
  const place = await Place.create(t, FRUIT);
  using index = await place.open();
  await index.sync(await place.list());
  await rename(join(place.root, 'fruit'), join(place.root, 'obst'));
  assert.deepEqual(await index.sync(await place.list()), { added: 2, changed: 0, removed: 2, unchanged: 1 });
  assert.deepEqual(await found(index, 'fruit obst pear', 9), await place.searchFresh('fruit obst pear', 9));
});

test('update follows one file: new, changed, gone', async (t) => {
  const place = await Place.create(t, FRUIT);
  using index = await place.open();
  await index.sync(await place.list());
  await place.write('new.txt', 'zebra');
  await index.update(['new.txt']);
  assert.deepEqual(await pathsOf(index, 'zebra'), ['new.txt']);
  await place.write('new.txt', 'lion');
  await Promise.all([index.update(['new.txt']), index.update(['never.txt'])]);
  assert.deepEqual([await pathsOf(index, 'zebra'), await pathsOf(index, 'lions')], [[], ['new.txt']]);
  await rm(join(place.root, 'new.txt'));
  await index.update(['new.txt']);
  assert.deepEqual(await pathsOf(index, 'lion'), []);
  assert.equal(index.stats.files, 3);
});

test('what cannot be indexed is passed over with its reason, read once, and taken in when it changes', async (t) => {
  const place = await Place.create(t, {
    'image.png': Uint8Array.from([137, 80, 0, 1]),
    'huge.csv': 'x'.repeat(1_000_001),
    'latin.txt': Uint8Array.from(Buffer.from('caf\xe9 zebra', 'latin1')),
    'wide.txt': Buffer.from('\ufeffzebra größe', 'utf16le'),
    'lone.txt': Buffer.from('zebra \xed\xa0\x80', 'latin1'),
    'broken.ipynb': '{"zebra"',
    'line.txt': `zebra${' y'.repeat(400_000)}`,
    'empty.txt': '',
  });
  await symlink(join(place.root, 'latin.txt'), join(place.root, 'link.txt'));
  execFileSync('mkfifo', [join(place.root, 'pipe.txt')]);
  using index = await place.open();
  const special = ['link.txt', 'pipe.txt'].map((path) => ({ path, size: 9, mtimeMs: 9 }));
  await index.sync([...(await place.list()), ...special]);
  assert.deepEqual(index.stats.skipped, { binary: 1, 'too-large': 1, unreadable: 2 });
  assert.deepEqual((await pathsOf(index, 'zebra')).sort(), [
    'broken.ipynb',
    'latin.txt',
    'line.txt',
    'lone.txt',
    'wide.txt',
  ]);
  assert.deepEqual(await pathsOf(index, 'café'), ['latin.txt']);
  const again = await index.sync([...(await place.list()), ...special]);
  assert.deepEqual([again.changed, again.unchanged], [0, 10]);
  await place.write('huge.csv', 'small now');
  await index.sync(await place.list());
  assert.deepEqual(await pathsOf(index, 'small'), ['huge.csv']);
});

test('odd queries find what they can and harm nothing', async (t) => {
  const place = await Place.create(t, FRUIT);
  using index = await place.open();
  assert.deepEqual(await index.search('apple', 5), [], 'nothing was indexed yet');
  await index.sync(await place.list());
  const long = Array.from(
    { length: 10_000 },
    (_, at) => `q${'x'.repeat(at % 50)}${String.fromCharCode(97 + (at % 26))}`,
  ).join(' ');
  assert.deepEqual(await pathsOf(index, `${long} apple`), ['fruit/apple.md']);
  for (const query of ['', '😀', '\ud800', '"', 'the of and'])
    assert.ok((await pathsOf(index, query)).length <= 1, query);
  assert.deepEqual(await index.search('apple', 0), []);
});

test('threads build the same index as one does, and an abort leaves what was built', async (t) => {
  const place = await Place.create(t, FRUIT);
  const random = seeded(2);
  // Enough for two threads.
  for (let file = 0; file < 160; file += 1) {
    await place.write(`d/${file}.txt`, Array.from({ length: 1000 }, () => randomText(random, 5000, 14)).join('\n'));
  }
  {
    using index = await place.open(WORKER);
    const controller = new AbortController();
    controller.abort();
    await assert.rejects(index.sync(await place.list(), { signal: controller.signal }), { name: 'AbortError' });
    const stopped = new AbortController();
    const work = index.sync(await place.list(), { signal: stopped.signal });
    setTimeout(() => stopped.abort(), 50);
    await assert.rejects(work, { name: 'AbortError' });
    const seen: number[] = [];
    const onProgress = (done: number, total: number): void => void seen.push(done / total);
    const { added, unchanged } = await index.sync(await place.list(), { onProgress });
    assert.deepEqual([added + unchanged, seen.at(-1)], [163, 1]);
    assert.deepEqual(
      await found(index, 'word3x word77x word900x', 20),
      await place.searchFresh('word3x word77x word900x', 20),
    );
  }
  using index = await place.open();
  assert.equal((await index.sync(await place.list())).unchanged, 163);
  const files = await readdir(indexPath(place.home, place.root));
  assert.ok(
    files.every((name) => /^(segments\.json|writer\.lock(-journal)?|[\w-]+\.(segment|journal))$/.test(name)),
    files.join(),
  );
});

test('what was mostly removed is rewritten by a thread, while changes and searches go on', async (t) => {
  const place = await Place.create(t, FRUIT);
  const random = seeded(3);
  const text = (): string => Array.from({ length: 1000 }, () => randomText(random, 5000, 14)).join('\n');
  for (let file = 0; file < 40; file += 1) await place.write(`d/${file}.txt`, text());
  using index = await place.open(WORKER);
  await index.sync(await place.list());
  const before = index.bytes;
  for (let file = 0; file < 36; file += 1) {
    await place.write(`d/${file}.txt`, randomText(random, 5000, 14), new Date(LONG_AGO.getTime() + 1000));
    await index.update([`d/${file}.txt`]);
    assert.ok((await index.search('word3x word7x', 5)).length > 0);
  }
  for (const deadline = performance.now() + GUARD_MS; index.bytes >= before / 2; await sleep(50)) {
    assert.ok(performance.now() < deadline, `${index.bytes} of ${before}`);
  }
  const query = 'word3x word77x word900x';
  assert.deepEqual(await found(index, query, 20), await place.searchFresh(query, 20));
  index[Symbol.dispose]();
  using again = await place.open(WORKER);
  assert.equal((await again.sync(await place.list())).unchanged, 43);
  assert.deepEqual(await found(again, query, 20), await place.searchFresh(query, 20));
});

test('of two on one folder the first writes, and both search and see their own changes', async (t) => {
  const place = await Place.create(t, FRUIT);
  const first = await place.open();
  await first.sync(await place.list());
  using second = await place.open();
  assert.deepEqual([first.isWriter, second.isWriter], [true, false]);
  assert.deepEqual(await pathsOf(second, 'apple'), ['fruit/apple.md']);
  await place.write('new.txt', 'zebra');
  await second.update(['new.txt']);
  assert.deepEqual(await pathsOf(second, 'zebra'), ['new.txt']);
  assert.deepEqual(await pathsOf(first, 'zebra'), []);
  first[Symbol.dispose]();
  using third = await place.open();
  assert.equal(third.isWriter, true);
  assert.equal(third.stats.files, 3, 'what the second knew was not kept');
});

test('an index of which any file is damaged, gone, foreign or a pipe is built anew, and its answers are right', async (t) => {
  const place = await Place.create(t, FRUIT);
  const store = indexPath(place.home, place.root);
  {
    using index = await place.open();
    await index.sync(await place.list());
    await place.write('fruit/fig.txt', 'A fig.\n');
    await index.update(['fruit/fig.txt']);
  }
  const whole = `${place.home}-whole`;
  await cp(store, whole, { recursive: true });
  const expected = await place.searchFresh('apple fig pear retry', 9);
  const names = (await readdir(whole)).filter((name) => name !== 'writer.lock');
  assert.ok(names.length >= 2);
  for (const name of names) {
    const bytes = await readFile(join(whole, name));
    const damages: (Uint8Array | 'pipe' | undefined)[] = [
      'pipe',
      undefined,
      Buffer.from('SQLite format 3\0'),
      bytes.subarray(0, -1),
    ];
    for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 6)) {
      const flipped = Uint8Array.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ 4;
      damages.push(flipped, bytes.subarray(0, at));
    }
    for (const damage of damages) {
      await rm(store, { recursive: true });
      await cp(whole, store, { recursive: true });
      if (typeof damage !== 'object') await rm(join(store, name));
      if (damage === 'pipe') execFileSync('mkfifo', [join(store, name)]);
      if (typeof damage === 'object') await writeFile(join(store, name), damage);
      using index = await place.open();
      await index.sync(await place.list());
      assert.deepEqual(await found(index, 'apple fig pear retry', 9), expected, name);
    }
  }
});

test(`${EDITS} edits, renames, removals, reopenings and lost writes give exactly the results of an index built from scratch`, async (t) => {
  const random = seeded(21);
  const place = await Place.create(t, FRUIT);
  const store = indexPath(place.home, place.root);
  let index = await place.open();
  let lost: Buffer | undefined;
  for (let step = 0; step < EDITS; step += 1) {
    const path = `d${random(3)}/f${random(25)}.${random(4) === 0 ? 'md' : 'txt'}`;
    const other = `d${random(3)}/f${random(25)}.txt`;
    const isThere = await stat(join(place.root, path)).then(
      () => true,
      () => false,
    );
    const action = random(10);
    if (action === 0 && isThere) {
      await mkdir(dirname(join(place.root, other)), { recursive: true });
      await rename(join(place.root, path), join(place.root, other));
      if (random(2) === 0) for (const name of [path, other]) await index.update([name]);
    } else if (action <= 2) {
      await rm(join(place.root, path), { force: true });
      await index.update([path]);
    } else if (action === 3) {
      lost = await readFile(join(store, 'segments.json')).catch(() => undefined);
    } else if (action === 4) {
      index[Symbol.dispose]();
      // As after a power cut: the last lists were never written, or segments of the older one are gone.
      if (lost !== undefined && random(2) === 0) await writeFile(join(store, 'segments.json'), lost);
      index = await place.open();
      await index.sync(await place.list());
    } else {
      await place.write(path, randomText(random, 40, 30), new Date(LONG_AGO.getTime() + step * 1000));
      await index.update([path]);
    }
    if (step % 12 !== 0) continue;
    await index.sync(await place.list());
    const query = randomText(random, 40, 3);
    assert.deepEqual(await found(index, query, 15), await place.searchFresh(query, 15), `step ${step}`);
  }
  index[Symbol.dispose]();
});
