import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuseRankings } from '../../../../src/retrieval/semantic/rankFusion.ts';

const fuse = (...rankings: readonly string[]): (readonly [string, number])[] =>
  fuseRankings(
    rankings.map((ranking) => ranking.split('')),
    (item) => item,
  ).map(({ item, score }) => [item, score]);

test('an item scores 1 / (60 + rank) in each ranking that has it', () => {
  assert.deepEqual(fuse('ab', 'b'), [
    ['b', 1 / 62 + 1 / 61],
    ['a', 1 / 61],
  ]);
});

test('an item that is far down in both rankings comes before one that is first in one only', () => {
  assert.equal(fuse('abcdefghix', 'ABCDEFGHIx')[0]?.[0], 'x');
});

test('of equal scores the first ranking comes first', () => {
  assert.deepEqual(
    fuse('a', 'b').map(([item]) => item),
    ['a', 'b'],
  );
});
