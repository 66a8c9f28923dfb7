import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { encodeSegment, StoredSegment, writeSegment } from '../../../../src/retrieval/segments/segmentFile.ts';
import { SegmentBuilder } from '../../../../src/retrieval/segments/segmentBuilder.ts';
import { seeded } from '../../../random.ts';
import { randomText, textChunk } from '../randomCorpus.ts';

test('the terms of a stored segment are read when they are needed first, and are kept', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-segment-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'a.segment');
  const random = seeded(1);
  const builder = new SegmentBuilder();
  for (const path of ['a.md', 'b.md'])
    builder.add({ path, size: 1, mtimeMs: 2, hash: path, status: 'indexed' }, [
      textChunk(path, randomText(random, 30, 9), 1),
    ]);
  const segment = builder.finish();
  await writeSegment(file, segment);
  const [needed, notNeeded] = [new StoredSegment(segment, file), new StoredSegment(segment, file)];
  assert.deepEqual(encodeSegment(needed), encodeSegment(segment));
  await rm(file);
  assert.deepEqual(encodeSegment(needed), encodeSegment(segment));
  assert.deepEqual(notNeeded.sources, segment.sources);
  for (const read of [() => notNeeded.dictionary, () => notNeeded.postings])
    assert.throws(read, { name: 'AppError', code: 'corrupt' });
});
