import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_DOCUMENT, PostingList } from '../../../../src/retrieval/segments/postingList.ts';
import { PostingsWriter } from '../../../../src/retrieval/segments/postings.ts';
import { RANGE } from '../../../../src/retrieval/kernel/assembly/kernelLayout.ts';
import { B, K1, levelParts } from '../../../../src/retrieval/segments/scoreLevels.ts';
import { GrowableBuffer, KernelMemory } from '../../../../src/retrieval/tokenizer/kernelMemory.ts';
import { type Below, seeded } from '../../../random.ts';

const DOCUMENTS = 200_000;

interface Postings {
  readonly documents: Uint32Array;
  readonly frequencies: Uint16Array;
}

/** Now and then a distance or a frequency is far larger than the others. */
function randomPostings(random: Below, count: number): Postings {
  const [documents, frequencies] = [new Uint32Array(count), new Uint16Array(count)];
  const near = 1 + random(100);
  let document = -1;
  for (let at = 0; at < count; at += 1) {
    document += 1 + random(random(30) === 0 ? 3000 : near);
    documents[at] = document;
    frequencies[at] = random(3) > 0 ? 1 : 1 + random(random(20) === 0 ? 65_535 : 12);
  }
  return { documents, frequencies };
}

function readAll(list: PostingList): { readonly documents: number[]; readonly frequencies: number[] } {
  const [documents, frequencies]: [number[], number[]] = [[], []];
  for (let hasMore = list.advance(0) !== NO_DOCUMENT; hasMore; hasMore = list.nextBlock()) {
    documents.push(...list.documents.subarray(0, list.size));
    frequencies.push(...list.frequencies.subarray(0, list.size));
  }
  return { documents, frequencies };
}

/** Writes lists one behind the other. */
function listWriter(lengths: Uint16Array) {
  const memory = new KernelMemory();
  const writer = new PostingsWriter(memory);
  const [documentBuffer, frequencyBuffer] = [new GrowableBuffer(memory), new GrowableBuffer(memory)];
  const lengthsAt = memory.allocate(lengths.byteLength);
  memory.halves.set(lengths, lengthsAt / 2);
  return {
    /** Gives where the list begins. */
    add({ documents, frequencies }: Postings): number {
      const start = writer.length;
      documentBuffer.reserve(documents.byteLength);
      frequencyBuffer.reserve(frequencies.byteLength);
      memory.numbers.set(documents, documentBuffer.address / 4);
      memory.halves.set(frequencies, frequencyBuffer.address / 2);
      writer.add(documentBuffer.address, frequencyBuffer.address, documents.length, lengthsAt);
      return start;
    },
    finish: () => writer.finish(),
  };
}

test('posting lists of every length are read as they were written, by one reader after the other', () => {
  const random = seeded(3);
  const lengths = new Uint16Array(DOCUMENTS).map(() => random(500));
  const writer = listWriter(lengths);
  const written = Array.from({ length: 600 }, (_, count) => {
    const postings = randomPostings(random, count);
    return { start: writer.add(postings), postings };
  });
  const bytes = writer.finish();
  const list = new PostingList();
  for (const { start, postings } of written) {
    list.open(bytes, start);
    assert.equal(list.count, postings.documents.length);
    const read = readAll(list);
    assert.deepEqual(read.documents, [...postings.documents]);
    assert.deepEqual(read.frequencies, [...postings.frequencies]);
  }
});

test('an empty list has no frequencies, also after a list of another segment whose frequencies were not read', () => {
  const lengths = new Uint16Array(DOCUMENTS).fill(9);
  const [large, small] = [listWriter(lengths), listWriter(lengths)];
  const start = large.add(randomPostings(seeded(4), 500));
  const empty = small.add({ documents: new Uint32Array(0), frequencies: new Uint16Array(0) });
  const list = new PostingList();
  list.open(large.finish(), start);
  list.advance(300);
  list.open(small.finish(), empty);
  list.boundRanges({ levels: new Uint8Array(1), bounds: new Float64Array(16), sums: new Float64Array(1) }, lengths);
  assert.deepEqual(readAll(list), { documents: [], frequencies: [] });
});

test('a reader goes forward to any document, whether the blocks between are decoded or not', () => {
  const random = seeded(4);
  const lengths = new Uint16Array(DOCUMENTS).map(() => random(500));
  const list = new PostingList();
  for (let round = 0; round < 50; round += 1) {
    const postings = randomPostings(random, 1 + random(1000));
    const writer = listWriter(lengths);
    writer.add(postings);
    list.open(writer.finish(), 0);
    for (let wanted = 0; wanted < DOCUMENTS; wanted += 1 + random(2000)) {
      const at = postings.documents.findIndex((document) => document >= wanted);
      assert.equal(list.advance(wanted), postings.documents[at] ?? NO_DOCUMENT);
      if (at === -1) break;
      assert.equal(list.frequencies[list.at], postings.frequencies[at]);
    }
  }
});

test('no document of a range scores more than its level says, whatever the average length is, and the level is no higher than it must', () => {
  const random = seeded(5);
  for (const count of [1, 5, 23, 24, 128, 129, 300, 5000]) {
    const postings = randomPostings(random, count);
    const documents = 1 + (postings.documents.at(-1) ?? 0);
    const lengths = new Uint16Array(documents).map(() => random(random(4) === 0 ? 65_535 : 300));
    const writer = listWriter(lengths);
    writer.add(postings);
    const list = new PostingList();
    list.open(writer.finish(), 0);
    const size = Math.ceil(documents / RANGE);
    const [levels, sums] = [new Uint8Array(size), new Float64Array(size).fill(1000)];
    list.boundRanges({ levels, bounds: levelParts(64), sums }, lengths);
    const highest = new Float64Array(size);
    for (const [at, document] of postings.documents.entries()) {
      const [frequency, length] = [postings.frequencies[at] ?? 0, lengths[document] ?? 0];
      const range = Math.floor(document / RANGE);
      const level = levels[range] ?? 0;
      for (const average of [1, 30, 64, 90, 1000]) {
        const part = frequency / (frequency + K1 * (1 - B + (B * length) / average));
        const bound = levelParts(average)[level] ?? 0;
        assert.ok(part <= bound + 1e-12, `${part} > ${bound} of range ${range}`);
        if (average === 64) highest[range] = Math.max(highest[range] ?? 0, part);
      }
    }
    for (const [range, part] of highest.entries()) {
      const level = levels[range] ?? 0;
      assert.equal(sums[range], 1000 + (levelParts(64)[level] ?? 0));
      if (level > 0) assert.ok(part > (levelParts(64)[level - 1] ?? 0) - 1e-12);
      else assert.equal(part, 0);
    }
  }
});
