import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import type { Chunk } from '../../../../src/retrieval/chunks/chunk.ts';
import { summariesOf } from '../../../../src/retrieval/chunks/summaries.ts';
import { NO_DOCUMENT, PostingList } from '../../../../src/retrieval/segments/postingList.ts';
import type { Segment } from '../../../../src/retrieval/segments/segment.ts';
import { SegmentBuilder } from '../../../../src/retrieval/segments/segmentBuilder.ts';
import { encodeSegment } from '../../../../src/retrieval/segments/segmentFile.ts';
import { definitionTerm } from '../../../../src/retrieval/tokenizer/definitionTerm.ts';
import { type Below, seeded, TIMES } from '../../../random.ts';
import { plainTermsOf } from '../tokenizer/plainTerms.ts';

const ASCII = [...Array.from('aAbBzyY019_$eisd'), 'ational', 'ing', 'ed', 'ies', 'HTTP', 'Server', 'ss'];
const OTHER = Array.from('ßéИ検索ーア한\u0301٣Ⅷ²𝒳𐀀කကİǅʰ');
const BETWEEN = [
  ' ',
  '\n',
  '.',
  '\0',
  '😀',
  '\uD800',
  '\uDC00',
  '\u2028',
  '\uFEFF',
  ' /** ',
  '*/',
  '"""',
  ':\n',
  '\n\n',
];
const MOST = 0xffff;

const pick = (random: Below, from: readonly string[]): string => from[random(from.length)] ?? '';

/** Words of ASCII, of other scripts, or of both; some are as long as words with terms can be, or longer. */
function randomWord(random: Below): string {
  const length = random(20) === 0 ? 60 + random(10) : random(100) === 0 ? 300 : 1 + random(8);
  const otherInTen = [0, 0, 0, 3, 10][random(5)] ?? 0;
  const letters = Array.from({ length }, () => pick(random, random(10) < otherInTen ? OTHER : ASCII));
  return letters.join('');
}

function randomText(random: Below, words: readonly string[], most: number): string {
  const parts = Array.from(
    { length: random(most) },
    () => pick(random, words) + (random(8) > 0 ? ' ' : pick(random, BETWEEN)),
  );
  return parts.join('');
}

function randomChunks(random: Below, words: readonly string[], source: string): Chunk[] {
  const names = (): string[] => Array.from({ length: random(3) }, () => pick(random, words));
  return Array.from({ length: random(random(20) === 0 ? 400 : 5) }, () => {
    const text = randomText(random, words, random(60) === 0 ? 12_000 : 60);
    return { text, source, startLine: 1, endLine: 2, symbols: names(), scope: names() };
  });
}

/** Of each term how often each document has it, and the words of each document, by the plain definition of terms. */
class PlainSegment {
  readonly lengths: number[] = [];
  readonly postings = new Map<string, [document: number, frequency: number][]>();

  add(path: string, chunks: readonly Chunk[]): void {
    for (const term of this.#termLists(path).flat()) this.#postingsOf(term);
    for (const { text, symbols, scope } of chunks) {
      const parts: readonly [string, number][] = [
        ...[text, ...summariesOf(text), path, basename(path)].map((part) => [part, 1] as [string, number]),
        [symbols.join(' '), 8],
        [symbols.map((symbol) => definitionTerm(symbol) ?? '').join(' '), 8],
        [scope.join(' '), 2],
      ];
      const counts = new Map<string, number>();
      for (const [part, weight] of parts) {
        for (const term of this.#termLists(part).flat()) counts.set(term, (counts.get(term) ?? 0) + weight);
      }
      for (const [term, count] of counts) this.#postingsOf(term).push([this.lengths.length, Math.min(count, MOST)]);
      const length = this.#termLists(text).filter((terms) => terms.length > 0).length;
      this.lengths.push(Math.min(length, MOST));
    }
  }

  #termLists(text: string): (readonly string[])[] {
    const words = text.toWellFormed().match(/[\p{L}\p{N}\p{M}_$]+/gu) ?? [];
    return words.map(plainTermsOf);
  }

  #postingsOf(term: string): [number, number][] {
    const postings = this.postings.get(term) ?? [];
    this.postings.set(term, postings);
    return postings;
  }
}

function postingsOf({ postings }: Segment, start: number): [number, number][] {
  const list = new PostingList();
  list.open(postings, start);
  const all: [number, number][] = [];
  for (let hasMore = list.advance(0) !== NO_DOCUMENT; hasMore; hasMore = list.nextBlock()) {
    for (let at = 0; at < list.size; at += 1) all.push([list.documents[at] ?? 0, list.frequencies[at] ?? 0]);
  }
  return all;
}

test('a segment holds what a plain count of the terms of each document gives, whatever the text is', () => {
  for (let seed = 1; seed <= 10 * TIMES; seed += 1) {
    const random = seeded(seed);
    const words = Array.from({ length: 1 + random(random(5) === 0 ? 3000 : 60) }, () => randomWord(random));
    const builder = new SegmentBuilder();
    const plain = new PlainSegment();
    for (let files = 1 + random(8); files > 0; files -= 1) {
      const path = `${randomText(random, words, 4).replaceAll(' ', '/')}x`;
      const chunks = randomChunks(random, words, path);
      builder.add({ path, size: 0, mtimeMs: 0, hash: '', status: 'indexed' }, chunks);
      plain.add(path, chunks);
    }
    const segment = builder.finish();
    assert.deepEqual([...segment.lengths], plain.lengths, `lengths of ${seed}`);
    const terms = [...segment.dictionary.withPrefix('')].map(({ term, start }) => [term, postingsOf(segment, start)]);
    const expected = [...plain.postings].toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    assert.deepEqual(terms, expected, `postings of ${seed}`);
    assert.equal(
      segment.postingCount,
      expected.reduce((sum, [, { length }]) => sum + length, 0),
    );
  }
});

test('no count and no length is above 65,535', () => {
  const builder = new SegmentBuilder();
  const chunks = [{ text: 'a1 '.repeat(MOST + 9), source: 'b', startLine: 1, endLine: 1, symbols: [], scope: [] }];
  builder.add({ path: 'b', size: 0, mtimeMs: 0, hash: '', status: 'indexed' }, chunks);
  const segment = builder.finish();
  assert.deepEqual([...segment.lengths], [MOST]);
  const terms = [...segment.dictionary.withPrefix('')].map(({ term, start }) => [term, postingsOf(segment, start)]);
  assert.deepEqual(terms, [
    ['1', [[0, MOST]]],
    ['a', [[0, MOST]]],
    ['a1', [[0, MOST]]],
    ['b', [[0, 2]]],
  ]);
});

test('segments that are built one after the other, large and small, do not depend on each other', () => {
  const built = [80_000, 10, 80_000, 120_000, 80_000, 10].map((count) => {
    const builder = new SegmentBuilder();
    for (let file = 0; file < 3; file += 1) {
      const path = `${file}.md`;
      const text = Array.from({ length: count }, (_, word) => `w${(word * 7 + file) % count}x`).join(' ');
      builder.add({ path, size: 0, mtimeMs: 0, hash: '', status: 'indexed' }, [
        { text, source: path, startLine: 1, endLine: 1, symbols: [], scope: [] },
      ]);
    }
    return Buffer.from(encodeSegment(builder.finish())).toString('base64');
  });
  assert.ok(built[2] === built[0] && built[4] === built[0] && built[5] === built[1]);
});

test('a book without a blank is counted in time that grows with its length', () => {
  const builder = new SegmentBuilder();
  const random = seeded(1);
  const text = Array.from({ length: 300_000 }, () => String.fromCharCode(0x4e_00 + random(20_000))).join('');
  const chunks = [{ text, source: 'b', startLine: 1, endLine: 1, symbols: [], scope: [] }];
  builder.add({ path: 'b', size: 0, mtimeMs: 0, hash: '', status: 'indexed' }, chunks);
  assert.ok(builder.finish().dictionary.size > 250_000);
});
