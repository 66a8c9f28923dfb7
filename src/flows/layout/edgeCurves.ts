import type { Point } from './shape.ts';

const TURN_HEIGHT = 30;

/**
 * The SVG path along the points of a PlacedEdge. Curves leave and arrive upright; between two points of one height the line
 * turns round, below the first point and above the last.
 */
export function svgPath(points: readonly Point[]): string {
  return points
    .map((point, index) => {
      const before = points[index - 1];
      if (before === undefined) return `M${pair(point)}`;
      if (before.x === point.x) return `V${round(point.y)}`;
      const [a, b] = controlsOf(before, point, index === 1);
      return `C${pair(a)} ${pair(b)} ${pair(point)}`;
    })
    .join('');
}

/** A point of the curve to the point number `index` from the one before; `t` runs from 0 to 1. */
export function pointOnCurve(points: readonly Point[], index: number, t: number): Point {
  const [from, to] = [points[index - 1], points[index]];
  if (from === undefined || to === undefined) return points[0] ?? { x: 0, y: 0 };
  const [a, b] = controlsOf(from, to, index === 1);
  const s = 1 - t;
  const mix = (p: number, q: number, r: number, u: number): number =>
    s * s * s * p + 3 * s * s * t * q + 3 * s * t * t * r + t * t * t * u;
  return { x: mix(from.x, a.x, b.x, to.x), y: mix(from.y, a.y, b.y, to.y) };
}

function controlsOf(from: Point, to: Point, isFirst: boolean): readonly [Point, Point] {
  const middle = from.y === to.y ? from.y + (isFirst ? TURN_HEIGHT : -TURN_HEIGHT) : (from.y + to.y) / 2;
  return [
    { x: from.x, y: middle },
    { x: to.x, y: middle },
  ];
}

const round = (value: number): number => Math.round(value * 10) / 10;
const pair = ({ x, y }: Point): string => `${round(x)} ${round(y)}`;
