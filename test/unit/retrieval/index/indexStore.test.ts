import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { IndexStore, readSegmentList, writeSegmentList } from '../../../../src/retrieval/index/indexStore.ts';
import { Journal, readJournal } from '../../../../src/retrieval/index/journal.ts';
import { SegmentBuilder } from '../../../../src/retrieval/segments/segmentBuilder.ts';
import type { Segment } from '../../../../src/retrieval/segments/segment.ts';
import { INDEX_VERSION } from '../../../../src/retrieval/segments/segmentFile.ts';
import { SegmentSet } from '../../../../src/retrieval/search/segmentSet.ts';
import { TIMES } from '../../../random.ts';
import { cannotListOpenFiles, openFilesIn } from '../../openFiles.ts';
import { textChunk } from '../randomCorpus.ts';

const NOTHING = new Map<string, number>();

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-store-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function segmentOf(path: string, text: string): Segment {
  const builder = new SegmentBuilder();
  builder.add({ path, size: 1, mtimeMs: 1, hash: text, status: 'indexed' }, [textChunk(path, text)]);
  return builder.finish();
}

test('a segment that a thread is writing is left alone, until it was listed', async (t) => {
  const folder = await temporaryFolder(t);
  const store = IndexStore.open(folder, '/root');
  t.after(() => store.dispose());
  const file = store.nextFile();
  await writeFile(`${file}.some-id.tmp`, 'half of it');
  const other = store.nextFile();
  await writeFile(other, 'all of it');
  const segments = new SegmentSet();
  segments.add(segmentOf('a.txt', 'zebra'));
  await store.write({ segments, touched: NOTHING }, []);
  const names = await readdir(folder);
  assert.ok(names.includes(`${basename(file)}.some-id.tmp`) && names.includes(basename(other)), names.join());
  segments.add(segmentOf('b.txt', 'lion'), other);
  await store.write({ segments, touched: NOTHING }, []);
  segments.add(segmentOf('c.txt', 'okapi'));
  segments.compact();
  await store.write({ segments, touched: NOTHING }, []);
  assert.equal((await readdir(folder)).includes(basename(other)), false, 'merged into another');
});

test('changes that only add go to the journal, and a reader sees them one by one', async (t) => {
  const folder = await temporaryFolder(t);
  const writer = IndexStore.open(folder, '/root');
  const segments = new SegmentSet();
  segments.add(segmentOf('a.txt', 'zebra'));
  await writer.write({ segments, touched: NOTHING }, []);
  const reader = IndexStore.open(folder, '/root');
  t.after(() => reader.dispose());
  assert.deepEqual([writer.isWriter, reader.isWriter], [true, false]);
  assert.equal((await reader.read())?.segments.length, 1);
  assert.deepEqual(await reader.readNews(), { isNew: false, entries: [] });
  const before = await readdir(folder);
  const added = segmentOf('b.txt', 'lion');
  segments.add(added);
  await writer.write({ segments, touched: NOTHING }, [{ segment: added, touched: new Map([['a.txt', 7]]) }]);
  assert.deepEqual(await readdir(folder), before, 'no file is new');
  const { isNew, entries } = await reader.readNews();
  assert.deepEqual([isNew, entries.map(({ segment }) => segment?.sources[0]?.path)], [false, ['b.txt']]);
  assert.deepEqual([...(entries[0]?.touched ?? [])], [['a.txt', 7]]);
  writer.dispose();
  assert.equal(reader.takeLock(), true);
  const stored = await reader.read();
  assert.deepEqual([stored?.segments.length, stored?.entries.length], [1, 2]);
});

test('an index of another version is none, and is written anew', async (t) => {
  const folder = await temporaryFolder(t);
  const older = IndexStore.open(folder, '/root');
  const segments = new SegmentSet();
  segments.add(segmentOf('a.txt', 'zebra'));
  await older.write({ segments, touched: NOTHING }, []);
  older.dispose();
  const list = await readSegmentList(folder, '/root');
  assert.ok(list);
  await writeSegmentList(folder, { ...list, version: INDEX_VERSION - 1 });
  const store = IndexStore.open(folder, '/root');
  t.after(() => store.dispose());
  assert.equal(await store.read(), undefined);
  const rebuilt = new SegmentSet();
  rebuilt.add(segmentOf('a.txt', 'zebra'));
  await store.write({ segments: rebuilt, touched: NOTHING }, []);
  assert.equal((await store.read())?.segments.length, 1);
});

test('a journal that was cut or damaged anywhere gives what stands before, and is written on from there', async (t) => {
  const folder = await temporaryFolder(t);

  const path = join(folder, 'a.journal');
  const journal = new Journal(path, 0);
  const ends = [0];
  for (const word of ['zebra', 'lion', 'okapi']) {
    await journal.append({ segment: segmentOf(`${word}.txt`, word), touched: NOTHING });
    ends.push(journal.length);
  }

  const whole = await readFile(path);
  for (let at = 0; at < whole.length; at += TIMES > 1 ? 1 : 3) {
    const expected = ends.filter((end) => end <= at).length - 1;
    await writeFile(path, whole.subarray(0, at));
    assert.equal((await readJournal(path)).entries.length, expected, `cut at ${at}`);
    const flipped = Uint8Array.from(whole);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
    await writeFile(path, flipped);
    const { entries, end } = await readJournal(path);
    assert.deepEqual([entries.length, end], [expected, ends[expected]], `flipped at ${at}`);
  }
  await writeFile(path, Buffer.concat([whole.subarray(0, (ends[2] ?? 0) + 5), Buffer.alloc(100)]));
  const { end } = await readJournal(path);
  const next = new Journal(path, end);
  await next.append({ segment: undefined, touched: new Map([['x', 1]]) });
  const { entries } = await readJournal(path);
  assert.deepEqual(
    entries.map(({ segment }) => segment?.sources[0]?.path),
    ['zebra.txt', 'lion.txt', undefined],
  );
});

test('no journal stays open', { skip: cannotListOpenFiles }, async (t) => {
  const folder = await temporaryFolder(t);
  const store = IndexStore.open(folder, '/root');
  t.after(() => store.dispose());
  const segments = new SegmentSet();
  segments.add(segmentOf('a.txt', 'zebra'));
  const journals = () => openFilesIn(folder).filter((path) => path.endsWith('.journal'));
  await store.write({ segments, touched: NOTHING }, []);
  await store.read();
  assert.deepEqual(journals(), []);

  // A list that cannot be replaced.
  await rm(join(folder, 'segments.json'));
  await mkdir(join(folder, 'segments.json'));
  const file = store.nextFile();
  await writeFile(file, 'a segment');
  segments.add(segmentOf('b.txt', 'okapi'), file);
  await store.write({ segments, touched: NOTHING }, []);
  assert.ok(store.problem);
  assert.deepEqual(journals(), []);
});
