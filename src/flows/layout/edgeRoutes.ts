import type { CellLink } from './grid.ts';
import type { Box, Point } from './shape.ts';

/** Pixels between a node's right border and the line of a connection to itself. */
export const LOOP_REACH = 26;

/** The top and the bottom of a row, in pixels. */
export interface Band {
  readonly top: number;
  readonly bottom: number;
}

/** The line along a chain of links, downwards. It runs upright through the rows, where nodes are, and curves between them. */
export function routeChain(
  chain: readonly CellLink[],
  [upperX, lowerX]: readonly [number, number],
  upper: Box,
  bandOf: (row: number) => Band,
): Point[] {
  const points: Point[] = [];
  const add = (x: number, y: number): void => {
    // A straight piece through several rows is one segment, which keeps paths of long flows short.
    if (points.at(-1)?.x === x && points.at(-2)?.x === x) points.pop();
    if (points.at(-1)?.x !== x || points.at(-1)?.y !== y) points.push({ x, y });
  };
  add(upperX, upper.y + upper.height);
  const first = chain[0];
  if (first !== undefined) add(upperX, bandOf(first.upper.row).bottom);
  for (const { lower } of chain) {
    const { top, bottom } = bandOf(lower.row);
    add(lower.isBend ? lower.x : lowerX, top);
    if (lower.isBend) add(lower.x, bottom);
  }
  return points;
}

/** The line of a connection from a node to itself: out below, round the right side, and in above. */
export function routeLoop({ x, y, width, height }: Box): Point[] {
  const [side, reach] = [x + width - 24, x + width + LOOP_REACH];
  return [
    { x: side, y: y + height },
    { x: reach, y: y + height },
    { x: reach, y },
    { x: side, y },
  ];
}

/** The line between two nodes of which at least one was moved by hand: straight down, or around the side. */
export function routeFreely(from: Box, to: Box): Point[] {
  const start = { x: from.x + from.width / 2, y: from.y + from.height };
  const end = { x: to.x + to.width / 2, y: to.y };
  if (end.y > start.y) return [start, end];
  const [left, right] = from.x < to.x ? [from, to] : [to, from];
  const innerGap = right.x - (left.x + left.width);
  const side =
    innerGap > 0 ? left.x + left.width + innerGap / 2 : Math.max(from.x + from.width, to.x + to.width) + LOOP_REACH;
  return [start, { x: side, y: start.y }, { x: side, y: end.y }, end];
}
