import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Series } from '../../../../src/jobs/metrics/series.ts';

test('a short series has each value as a point', () => {
  const series = new Series();
  assert.deepEqual(
    [series.points, series.count, series.last, series.min, series.max],
    [[], 0, NaN, undefined, undefined],
  );
  for (const [x, y] of [
    [1, 3],
    [2, -1],
    [5, 2],
  ] as const)
    series.push(x, y);
  assert.deepEqual(series.points, [
    [1, 3],
    [2, -1],
    [5, 2],
  ]);
  assert.deepEqual([series.count, series.last, series.min, series.max], [3, 2, -1, 3]);
});

test('a million values become few points with the same mean, in order, and the last and extreme values stay exact', () => {
  const series = new Series();
  const count = 1_000_000;
  for (let x = 1; x <= count; x += 1) series.push(x, x === 777_777 ? -5 : x % 10);
  const { points } = series;
  assert.ok(points.length <= 500 && points.length >= 250, `${points.length} points`);
  assert.deepEqual(
    points.map(([x]) => x),
    points.map(([x]) => x).toSorted((a, b) => a - b),
  );
  assert.equal(points.at(-1)?.[0], count);
  for (const [, y] of points.slice(0, -1)) assert.ok(Math.abs(y - 4.5) < 0.1, `${y}`);
  assert.deepEqual([series.count, series.last, series.min, series.max], [count, 0, -5, 9]);
});

test('values that are no numbers are gaps, which do not change the mean of the values around them', () => {
  const series = new Series();
  for (let x = 0; x < 2_000; x += 1) series.push(x, x % 4 === 0 ? NaN : x % 4 === 1 ? Infinity : 7);
  assert.ok(series.points.every(([, y]) => y === 7));
  series.push(2_001, NaN);
  assert.ok(Number.isNaN(series.last));
  assert.deepEqual([series.min, series.max], [7, 7]);
  const lost = new Series();
  for (let x = 0; x < 3; x += 1) lost.push(x, NaN);
  assert.deepEqual(lost.points, [
    [0, NaN],
    [1, NaN],
    [2, NaN],
  ]);
  assert.deepEqual([lost.min, lost.max], [undefined, undefined]);
});
