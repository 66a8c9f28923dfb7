import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Chunk } from '../../../src/retrieval/chunks/chunk.ts';
import { KeywordIndex } from '../../../src/retrieval/keywordIndex.ts';

function chunk(source: string, text: string, symbols: readonly string[] = []): Chunk {
  return { text, source, startLine: 1, endLine: 1, symbols, scope: [] };
}

function indexOf(...chunks: Chunk[]): KeywordIndex {
  const index = new KeywordIndex();
  index.add(chunks);
  return index;
}

const found = (index: KeywordIndex, query: string, limit = 10): string[] =>
  index.search(query, limit).map(({ chunk: { source } }) => source);

test('scores are those of BM25 with k1 = 2 and b = 0.85', () => {
  const index = indexOf(chunk('1', 'apple apple pear'), chunk('2', 'apple plum plum plum plum'), chunk('3', 'plum'));
  const [first, second] = index.search('apple', 10);
  const idf = Math.log(1 + (3 - 2 + 0.5) / (2 + 0.5));
  const expected = (frequency: number, length: number): number =>
    (idf * frequency * 3) / (frequency + 2 * (0.15 + (0.85 * length) / 3));
  assert.equal(first?.chunk.source, '1');
  assert.ok(Math.abs(first.score - expected(2, 3)) < 1e-9, `${first.score}`);
  assert.ok(Math.abs((second?.score ?? 0) - expected(1, 5)) < 1e-9);
});

test('the name of a definition weighs more than its uses', () => {
  const index = indexOf(
    chunk('use', 'retryDelay retryDelay retryDelay now'),
    chunk('definition', 'function retryDelay of now', ['retryDelay']),
  );
  assert.deepEqual(found(index, 'retryDelay'), ['definition', 'use']);
});

test('words of the path are found', () => {
  assert.deepEqual(found(indexOf(chunk('src/rateLimit.ts', 'x'), chunk('src/other.ts', 'y')), 'rate limit'), [
    'src/rateLimit.ts',
  ]);
});

test('at most `limit` chunks, best first, ties in order', () => {
  const index = indexOf(...Array.from({ length: 50 }, (_, i) => chunk(String(i).padStart(2, '0'), 'same words')));
  assert.deepEqual(found(index, 'same', 3), ['00', '01', '02']);
  assert.deepEqual(found(index, 'same', 0), []);
});

test('a query of nothing, of unknown words or against nothing finds nothing', () => {
  assert.deepEqual(found(indexOf(chunk('1', 'apple')), ''), []);
  assert.deepEqual(found(indexOf(chunk('1', 'apple')), 'zebra 😀'), []);
  assert.deepEqual(found(new KeywordIndex(), 'apple'), []);
});

test('after any sequence of changes the ranking is that of an index built from scratch', () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const words = ['apple', 'pear', 'plum', 'fig', 'lime', 'date', 'kiwi'];
  const text = (): string => Array.from({ length: 1 + random(12) }, () => words[random(words.length)]).join(' ');
  const sources = new Map<string, Chunk[]>();
  const index = new KeywordIndex();
  for (let step = 0; step < 300; step += 1) {
    const source = `f${random(20)}`;
    if (random(4) === 0) {
      sources.delete(source);
      index.remove(source);
    } else {
      const chunks = Array.from({ length: 1 + random(3) }, () => chunk(source, text()));
      sources.set(source, chunks);
      index.replace(source, chunks);
    }
    if (step % 10 !== 0) continue;
    const fresh = indexOf(...[...sources.values()].flat());
    assert.equal(index.chunkCount, fresh.chunkCount);
    const query = `${words[random(7)]} ${words[random(7)]}`;
    const scores = (of: KeywordIndex): string[] =>
      of
        .search(query, 1000)
        .map((hit) => `${hit.score.toFixed(9)} ${hit.chunk.source} ${hit.chunk.text}`)
        .sort();
    assert.deepEqual(scores(index), scores(fresh));
  }
});

test('an addition that fails changes nothing', () => {
  const index = indexOf(chunk('a.ts', 'whale one'), chunk('a.ts', 'whale two whale'), chunk('b.ts', 'dolphin'));
  const before = index.search('whale', 10);
  const unreadable = Object.defineProperty({ ...chunk('c.ts', '') }, 'text', {
    get: () => {
      throw new Error('no memory');
    },
  });
  assert.throws(() => index.add([chunk('a.ts', 'dolphin'), unreadable]), /no memory/);
  assert.deepEqual(index.search('whale', 10), before);
  index.add([chunk('c.ts', 'dolphin')]);
  assert.deepEqual(found(index, 'dolphin'), ['b.ts', 'c.ts']);
});
