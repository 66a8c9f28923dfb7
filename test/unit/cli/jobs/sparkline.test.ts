import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sparkline } from '../../../../src/cli/jobs/job.ts';
import type { SeriesPoint } from '../../../../src/jobs/metrics/series.ts';

const at = (...values: readonly number[]): SeriesPoint[] => values.map((value, index) => [index, value]);

test('each part of the range is a bar between the lowest and the highest value', () => {
  assert.equal(sparkline(at(0, 1, 2, 3, 4, 5, 6, 7), 8), '▁▂▃▄▅▆▇█');
  assert.equal(sparkline(at(7, 7, 3.5, 0, 0), 32), '██▅▁▁');
  assert.equal(sparkline(at(...Array.from({ length: 800 }, (_, index) => index)), 8), '▁▂▃▄▅▆▇█');
});

test('with a floor, bars start there', () => {
  assert.equal(sparkline(at(7, 6, 7), 8, 0), '█▇█');
  assert.equal(sparkline(at(0, 0), 8, 0), '▁▁');
  assert.equal(sparkline(at(5, 5), 8), '▁▁');
});

test('points have the place of their position, however many are close together', () => {
  const points: SeriesPoint[] = [
    [0, 0],
    [1, 0],
    [2, 0],
    [3, 0],
    [100, 7],
  ];
  assert.equal(sparkline(points, 5), '▁▁▁▁█');
  const back: SeriesPoint[] = [
    [10, 0],
    [5, 7],
    [10, 0],
  ];
  assert.equal(sparkline(back, 4).length, 3);
});

test('values that are not finite are gaps, and none at all is an empty text', () => {
  assert.equal(sparkline(at(0, NaN, Infinity, 7), 8), '▁  █');
  assert.equal(sparkline(at(NaN), 8), '');
  assert.equal(sparkline([], 8), '');
});
