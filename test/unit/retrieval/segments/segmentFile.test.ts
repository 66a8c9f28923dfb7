import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { plainQuery } from '../../../../src/retrieval/search/query.ts';
import type { Segment } from '../../../../src/retrieval/segments/segment.ts';
import { SegmentBuilder } from '../../../../src/retrieval/segments/segmentBuilder.ts';
import {
  decodeSegment,
  encodeSegment,
  readSegment,
  writeSegment,
} from '../../../../src/retrieval/segments/segmentFile.ts';
import { SegmentSet } from '../../../../src/retrieval/search/segmentSet.ts';
import { toTermQuery } from '../../../../src/retrieval/search/termQuery.ts';
import { WordAnalyzer } from '../../../../src/retrieval/tokenizer/wordAnalyzer.ts';
import { seeded } from '../../../random.ts';
import { randomText, textChunk } from '../randomCorpus.ts';

function smallSegment(files: number): Segment {
  const random = seeded(1);
  const builder = new SegmentBuilder();
  for (let file = 0; file < files; file += 1) {
    const path = `src/größe ${file}.ts`;
    const chunks = [9, 3].map((line) => ({ ...textChunk(path, randomText(random, 30, 9), line), endLine: line + 4 }));
    builder.add({ path, size: 7e9 + file, mtimeMs: 1_700_000_000_000.25, hash: `h${file}`, status: 'indexed' }, chunks);
  }
  builder.add({ path: 'a.bin', size: 1, mtimeMs: 2, hash: '', status: 'binary' }, []);
  return builder.finish();
}

async function folder(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'farwharf-segment-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  return root;
}

test('a segment that was written is read as it was', async (t) => {
  const path = join(await folder(t), 'a.segment');
  const segment = smallSegment(300);
  await writeSegment(path, segment);
  const read = await readSegment(path);
  assert.ok(read);
  assert.deepEqual(read.sources, segment.sources);
  assert.deepEqual(read.lengths, segment.lengths);
  assert.deepEqual(read.firstLines, segment.firstLines);
  assert.deepEqual(read.lastLines, segment.lastLines);
  assert.deepEqual([...read.dictionary.withPrefix('')], [...segment.dictionary.withPrefix('')]);
  const search = (of: Segment): unknown => {
    const set = new SegmentSet();
    set.add(of);
    return set.topMatches(toTermQuery(plainQuery('word0x word7x'), new WordAnalyzer()), 50);
  };
  assert.deepEqual(search(read), search(segment));
  assert.deepEqual(encodeSegment(read), encodeSegment(segment));
});

test('a file that was cut anywhere is not read', () => {
  const bytes = encodeSegment(smallSegment(4));
  for (let length = 0; length < bytes.length; length += 1) {
    assert.equal(decodeSegment(bytes.slice(0, length)), undefined, `${length} of ${bytes.length} bytes`);
  }
  assert.equal(decodeSegment(Uint8Array.from([...bytes, 0])), undefined, 'one byte more');
});

test('a file in which any bit of any byte was flipped is not read', () => {
  const bytes = encodeSegment(smallSegment(4));
  for (let at = 0; at < bytes.length; at += 1) {
    for (const mask of [1, 2, 4, 8, 16, 32, 64, 128, 255]) {
      bytes[at] = (bytes[at] ?? 0) ^ mask;
      assert.equal(decodeSegment(bytes), undefined, `byte ${at}, mask ${mask}`);
      bytes[at] = (bytes[at] ?? 0) ^ mask;
    }
  }
  assert.ok(decodeSegment(bytes), 'it was whole before');
});

test('a foreign file, an empty one and none at all are not read', async (t) => {
  const root = await folder(t);
  await writeFile(join(root, 'foreign'), 'SQLite format 3\0'.repeat(50));
  await writeFile(join(root, 'empty'), '');
  for (const name of ['foreign', 'empty', 'missing', '.'])
    assert.equal(await readSegment(join(root, name)), undefined, name);
});

test('a write that fails leaves nothing', async (t) => {
  const root = await folder(t);
  await assert.rejects(writeSegment(join(root, 'no', 'a.segment'), smallSegment(1)));
  assert.deepEqual(await readdir(root), []);
});
