import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Chunk } from '../../../../src/retrieval/chunks/chunk.ts';
import { PathFilter } from '../../../../src/retrieval/search/pathFilter.ts';
import type { Segment, SourceStatus } from '../../../../src/retrieval/segments/segment.ts';
import { scanWords } from '../../../../src/retrieval/tokenizer/scanWords.ts';
import { SegmentBuilder } from '../../../../src/retrieval/segments/segmentBuilder.ts';
import { type Match, SegmentSet } from '../../../../src/retrieval/search/segmentSet.ts';
import type { TermQuery } from '../../../../src/retrieval/search/termQuery.ts';
import { WordAnalyzer } from '../../../../src/retrieval/tokenizer/wordAnalyzer.ts';
import { seeded, TIMES } from '../../../random.ts';
import { randomText, randomWord, textChunk } from '../randomCorpus.ts';

const analyzer = new WordAnalyzer();
type Sources = ReadonlyMap<string, readonly Chunk[]>;

function segmentOf(sources: Sources, status: SourceStatus = 'indexed'): Segment {
  const builder = new SegmentBuilder();
  for (const [path, chunks] of sources) builder.add({ path, size: 0, mtimeMs: 0, hash: '', status }, chunks);
  return builder.finish();
}

function fresh(sources: Sources): SegmentSet {
  const set = new SegmentSet();
  set.add(segmentOf(sources));
  return set;
}

const plain = (matches: readonly Match[]): string[] =>
  matches.map(
    ({ source, ordinal, startLine, endLine, score, terms }) =>
      `${source.path} ${ordinal} ${startLine}-${endLine} ${score} ${terms}`,
  );

const anyOf = (terms: readonly string[]): TermQuery => ({
  terms,
  words: [],
  definitions: [],
  related: [],
  prefixes: [],
  required: [],
  excluded: [],
  paths: PathFilter.ALL,
});

interface Counted {
  readonly name: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

function countTerms(sources: Sources): Counted[] {
  return [...sources].flatMap(([path, chunks]) =>
    chunks.map(({ text }, ordinal) => {
      const counts = new Map<string, number>();
      let length = 0;
      for (const part of [text, path, path]) {
        // the name of the file counts beside the path
        scanWords(part, (word) => {
          if (part === text) length += 1;
          for (const term of analyzer.termsOf(word)) counts.set(term, (counts.get(term) ?? 0) + 1);
        });
      }
      return { name: `${path} ${ordinal}`, counts, length };
    }),
  );
}

/** BM25 by its formula, for every chunk. */
function bruteForce(documents: readonly Counted[], terms: readonly string[], limit: number): [string, number][] {
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  const held = new Map(terms.map((term) => [term, documents.filter(({ counts }) => counts.has(term)).length]));
  return documents
    .map(({ name, counts, length }): [string, number] => {
      let score = 0;
      for (const [term, holders] of held) {
        const frequency = counts.get(term) ?? 0;
        const weight = Math.log(1 + (documents.length - holders + 0.5) / (holders + 0.5));
        score += (weight * frequency * 3) / (frequency + 2 * (0.15 + (0.85 * length) / average));
      }
      return [name, score];
    })
    .filter(([, score]) => score > 0)
    .sort(([a, left], [b, right]) => (Math.abs(left - right) < 1e-8 ? (a < b ? -1 : 1) : right - left))
    .slice(0, limit);
}

test('the best of 4,000 chunks are those that scoring every chunk gives', () => {
  const random = seeded(3);
  const sources = new Map<string, Chunk[]>();
  for (let file = 0; file < 1000; file += 1) {
    const path = `f${String(file).padStart(4, '0')}`;
    sources.set(
      path,
      Array.from({ length: 4 }, (_, at) => textChunk(path, randomText(random, 4000, 40), at + 1)),
    );
  }
  const set = fresh(sources);
  const documents = countTerms(sources);
  for (let query = 0; query < 20 * TIMES; query += 1) {
    const terms = [...new Set(Array.from({ length: 1 + random(6) }, () => randomWord(random, 4000)))].flatMap((word) =>
      analyzer.queryTerms(word),
    );
    const distinct = [...new Set(terms)];
    const expected = bruteForce(documents, distinct, 10);
    const found = set.topMatches(anyOf(distinct), 10);
    assert.deepEqual(
      found.map(({ source, ordinal }) => `${source.path} ${ordinal}`),
      expected.map(([name]) => name),
      distinct.join(' '),
    );
    for (const [at, { score }] of found.entries()) assert.ok(Math.abs(score - (expected[at]?.[1] ?? 0)) < 1e-7);
    for (const { source, ordinal, terms: bits } of found) {
      const counts = documents.find(({ name }) => name === `${source.path} ${ordinal}`)?.counts;
      const contained = distinct.filter((_, at) => ((bits >> at) & 1) === 1);
      assert.deepEqual(
        contained,
        distinct.filter((term) => counts?.has(term)),
        'the terms that it contains',
      );
    }
  }
});

test('passing over what cannot be among the best never changes the best', () => {
  const random = seeded(5);
  const sources = new Map<string, Chunk[]>();
  for (let file = 0; file < 2000; file += 1)
    sources.set(`f${file}`, [textChunk(`f${file}`, randomText(random, 300, 12))]);
  const set = fresh(sources);
  for (let query = 0; query < 20; query += 1) {
    const terms = analyzer.queryTerms(randomText(random, 300, 8));
    const all = plain(set.topMatches(anyOf(terms), 2000));
    for (const limit of [1, 3, 10, 100])
      assert.deepEqual(plain(set.topMatches(anyOf(terms), limit)), all.slice(0, limit));
  }
});

test('of many equal scores in many segments the best are those that counting everything gives', () => {
  const random = seeded(7);
  const sources = new Map<string, Chunk[]>();
  const set = new SegmentSet();
  for (let segment = 0; segment < 12; segment += 1) {
    const batch = new Map<string, Chunk[]>();
    for (let file = 0; file < 40; file += 1) {
      const path = `f${random(400)}`; // now and then one that another segment has too
      batch.set(
        path,
        Array.from({ length: 20 }, (_, at) => textChunk(path, randomText(random, 12, 5), at + 1)),
      );
    }
    for (const [path, chunks] of batch) sources.set(path, chunks);
    set.add(segmentOf(batch));
  }
  const documents = countTerms(sources);
  for (let query = 0; query < 12; query += 1) {
    const terms = analyzer.queryTerms(randomText(random, 12, 6));
    const expected = bruteForce(documents, terms, documents.length);
    for (const limit of [1, 10, 33, documents.length]) {
      const found = set.topMatches(anyOf(terms), limit);
      assert.equal(found.length, Math.min(limit, expected.length));
      for (const [at, { score }] of found.entries()) assert.ok(Math.abs(score - (expected[at]?.[1] ?? 0)) < 1e-7);
      for (const [at, { source, ordinal, score }] of found.entries()) {
        const before = found[at - 1];
        if (before?.score !== score) continue;
        assert.ok(before.source.path < source.path || (before.source === source && before.ordinal < ordinal));
      }
    }
  }
});

test('500 changes, removals and merges give exactly the results of an index built from scratch', () => {
  const random = seeded(11);
  const sources = new Map<string, Chunk[]>();
  const set = new SegmentSet();
  for (let step = 0; step < 500; step += 1) {
    const path = `dir${random(3)}/f${random(60)}`;
    if (random(3) === 0) {
      sources.delete(path);
      set.add(segmentOf(new Map([[path, []]]), 'removed'));
    } else {
      const count = 1 + random(200) * (random(40) === 0 ? 1 : 0) + random(3);
      const chunks = Array.from({ length: count }, (_, at) => textChunk(path, randomText(random, 50, 12), at + 1));
      sources.set(path, chunks);
      set.add(segmentOf(new Map([[path, chunks]])));
    }
    if (random(3) === 0) set.compact();
    if (step % 20 !== 0) continue;
    const scratch = fresh(sources);
    const terms = analyzer.queryTerms(randomText(random, 50, 4));
    assert.equal(set.documentCount, scratch.documentCount);
    assert.deepEqual([...set.sources()].map(({ path: known }) => known).sort(), [...sources.keys()].sort());
    assert.deepEqual(
      plain(set.topMatches(anyOf(terms), 20)),
      plain(scratch.topMatches(anyOf(terms), 20)),
      `step ${step}`,
    );
  }
  set.compact();
  assert.ok(set.all.length < 20, `${set.all.length} segments`);
});

test('equal scores are in the order of paths and places, wherever their segments lie', () => {
  const set = new SegmentSet();
  for (const path of ['c', 'a', 'b']) {
    set.add(segmentOf(new Map([[path, [textChunk(path, 'same'), textChunk(path, 'same', 2)]]])));
  }
  assert.deepEqual(
    set.topMatches(anyOf(['same']), 5).map(({ source, startLine }) => `${source.path}${startLine}`),
    ['a1', 'a2', 'b1', 'b2', 'c1'],
  );
});

test('terms are found by their beginnings, in any script', () => {
  const words = [
    'retry',
    'retrial',
    'größe',
    '検索',
    '𝒳yz',
    'zebra',
    ...Array.from({ length: 100 }, (_, at) => `re${at}`),
  ];
  const { dictionary } = segmentOf(new Map([['p', [textChunk('p', words.join(' '))]]]));
  const starting = (prefix: string): string[] => [...dictionary.withPrefix(prefix)].map(({ term }) => term);
  assert.deepEqual(starting('retr'), ['retri', 'retrial']);
  assert.equal(starting('re').length, 2 + 101, 'their parts too'); // "re" itself is a part
  for (const term of ['検索', 'gross', 'zebra', 'p']) assert.ok(dictionary.find(Buffer.from(term)) >= 0, term);
  for (const term of ['', 'a', 'retr', 'zzz', '\uffff', '検'])
    assert.equal(dictionary.find(Buffer.from(term)), -1, term);
});

test('new segments are merged with those before them that are less than twice as large', () => {
  const of = (name: string, files: number): Sources =>
    new Map(
      Array.from({ length: files }, (_, index) => {
        const path = `${name}${index}.txt`;
        return [path, [textChunk(path, 'some words of a file')]];
      }),
    );
  const set = new SegmentSet();
  const add = (name: string, files: number): number | undefined => {
    set.add(segmentOf(of(name, files)));
    return set.youngMerge()?.parts.length;
  };
  assert.equal(add('a', 20), undefined, 'one segment');
  assert.equal(add('b', 2), undefined, 'ten times as large');
  assert.equal(add('c', 2), 2, 'as large as the one before');
  assert.equal(set.youngMerge()?.isOldest, false);
  assert.equal(add('d', 30), 4, 'all are smaller');
  assert.equal(set.youngMerge()?.isOldest, true);
  set.compact();
  assert.equal(set.youngMerge(), undefined);
});
