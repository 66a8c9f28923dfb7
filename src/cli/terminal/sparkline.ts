import type { SeriesPoint } from '../../jobs/metrics/series.ts';

const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const GAP = ' ';

/**
 * A series as a line of bars, one for each part of its range of positions: the mean of the finite values in it. A part without points
 * continues the one before, and one without finite values is a gap.
 *
 * @param points in the order of their positions. @param width in cells. @param floor the value of the lowest bar; the lowest value if
 *   absent. @returns an empty text if no value is finite.
 */
export function sparkline(points: readonly SeriesPoint[], width: number, floor?: number): string {
  const values = resample(points, width);
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return '';
  const low = floor ?? Math.min(...finite);
  const range = Math.max(...finite) - low;
  const barOf = (value: number): string => {
    const height = range > 0 ? (value - low) / range : 0;
    return Number.isFinite(value) ? (BARS[Math.round(height * (BARS.length - 1))] ?? GAP) : GAP;
  };
  return values.map(barOf).join('');
}

/** The mean value in each cell; as many cells as points if there are fewer. */
function resample(points: readonly SeriesPoint[], width: number): readonly number[] {
  const [first, last] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 0];
  const cells = Math.min(width, points.length);
  // Steps may be repeated or go back, as after a restart of training.
  const cellOf = ([x]: SeriesPoint, index: number): number => {
    const part = last > first ? (x - first) / (last - first) : index / points.length;
    return Math.max(0, Math.min(cells - 1, Math.floor(part * cells)));
  };
  const groups = Map.groupBy(points.keys(), (index) => cellOf(points[index] ?? [0, 0], index));
  const values: number[] = [];
  for (let cell = 0; cell < cells; cell += 1) {
    const group = groups.get(cell)?.map((index) => points[index]?.[1] ?? Number.NaN);
    values.push(group === undefined ? (values.at(-1) ?? Number.NaN) : meanOf(group.filter(Number.isFinite)));
  }
  return values;
}

/** NaN for no values. */
function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
