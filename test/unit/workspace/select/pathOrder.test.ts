import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Yielder } from '../../../../src/core/processes/yielder.ts';
import { sortByPath } from '../../../../src/workspace/select/pathOrder.ts';
import { seeded } from '../../../random.ts';

test('paths are sorted by their bytes, however many there are, and none is lost', async () => {
  const below = seeded(1);
  const letters = ['a', 'B', '-', '/', '.', 'é', 'ﬁ', '0', '😀'];
  const makePath = (most: number): string => Array.from({ length: 1 + below(8) }, () => letters[below(most)]).join('');
  // Up to 4,096 are sorted at once, and more are merged from several such runs. Surrogates are only in the second half.
  for (const [index, count] of [0, 1, 4_096, 12_000, 2, 4_097, 8_193].entries()) {
    const paths = Array.from({ length: count }, () => makePath(letters.length - Number(index < 4)));
    const sorted = await sortByPath(paths, (path) => path, new Yielder());
    assert.deepEqual(
      sorted,
      paths.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      `${count} paths`,
    );
  }
});

test('items with the same path stay in their order', async () => {
  const items = Array.from({ length: 9_000 }, (_, index) => ({ path: `${index % 3}`, index }));
  const sorted = await sortByPath(items, ({ path }) => path, new Yielder());
  assert.deepEqual(
    sorted,
    items.toSorted((a, b) => Number(a.path) - Number(b.path) || a.index - b.index),
  );
});

test('an abort ends a sort that waits its turn', async () => {
  const stopped = AbortSignal.abort(new Error('enough'));
  const yielder = new Yielder(stopped);
  for (const since = performance.now(); performance.now() - since < 20; );
  await assert.rejects(
    sortByPath(['b', 'a'], (path) => path, yielder),
    /enough/,
  );
});
