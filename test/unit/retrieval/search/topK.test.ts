import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TopK } from '../../../../src/retrieval/search/topK.ts';
import { seeded } from '../../../random.ts';

test('the best items are those that sorting all of them puts first', () => {
  const below = seeded(11);
  for (let round = 0; round < 300; round += 1) {
    const limit = below(8);
    const isByName = below(2) === 1;
    const offers = Array.from({ length: below(30) }, (_, order) => ({ item: below(5), score: below(6), order }));
    const top = isByName ? new TopK<number>(limit, (a, b) => a - b) : new TopK<number>(limit);
    const best = (count: number) =>
      offers
        .slice(0, count)
        .toSorted((a, b) => b.score - a.score || (isByName ? a.item - b.item : 0) || a.order - b.order)
        .slice(0, limit);
    for (const [index, { item, score }] of offers.entries()) {
      top.offer(item, score);
      const expected = best(index + 1);
      assert.deepEqual(top.sorted(), expected);
      const threshold = limit > 0 && expected.length === limit ? expected.at(-1)?.score : -Infinity;
      assert.equal(top.threshold, threshold);
    }
  }
});
