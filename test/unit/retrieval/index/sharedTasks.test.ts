import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareTasks, slicesLeft, takeSlices } from '../../../../src/retrieval/index/sharedTasks.ts';

const SLICES = [['a.ts', 'ä/b.ts'], ['c.ts'], ['d.ts'], ['e.ts'], ['f.ts']].map((paths) =>
  paths.map((path, at) => ({ path, knownHash: at === 0 ? 'abc' : undefined })),
);

test('every slice is taken once, by the first thread that asks', () => {
  const shared = shareTasks(SLICES);
  const [first, second]: [number[], number[]] = [[], []];
  const one = takeSlices(shared, 3, first);
  const other = takeSlices(shared, 3, second);
  const files = [one.next(), other.next(), one.next(), one.next()].map(({ value }) => value as unknown);
  assert.deepEqual(files, [
    { path: 'a.ts', knownHash: 'abc' },
    { path: 'c.ts', knownHash: 'abc' },
    { path: 'ä/b.ts' },
    { path: 'd.ts', knownHash: 'abc' },
  ]);
  assert.equal(slicesLeft(shared), 2);
  assert.deepEqual(
    [...other, ...one].map(({ path }) => path),
    ['e.ts', 'f.ts'],
  );
  assert.deepEqual(
    [first, second],
    [
      [0, 2],
      [1, 3, 4],
    ],
  );
  assert.deepEqual([slicesLeft(shared), [...takeSlices(shared, 3, [])]], [0, []]);
});

test('a segment has about as many slices as it should, and what would be too little for one of its own', () => {
  const mine: number[] = [];
  assert.equal([...takeSlices(shareTasks(SLICES), 2, mine)].length, 3);
  assert.deepEqual(mine, [0, 1]);
  const all: number[] = [];
  assert.equal([...takeSlices(shareTasks(SLICES), 4, all)].length, 6);
  assert.deepEqual(all, [0, 1, 2, 3, 4]);
});
