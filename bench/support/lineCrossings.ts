import type { Point } from '../../src/flows/layout/shape.ts';

/** A drawn connection, and the nodes that it joins. */
export interface DrawnLine {
  readonly from: string;
  readonly to: string;
  readonly points: readonly Point[];
}

interface Segment {
  readonly line: number;
  readonly a: Point;
  readonly b: Point;
}

/** How many times the lines of a drawing cross, counted per pair of connections; lines that touch or share a track do not. */
export function countLineCrossings(lines: readonly DrawnLine[]): number {
  const segments: Segment[] = lines.flatMap(({ points }, line) =>
    points.slice(1).flatMap((b, index) => {
      const a = points[index];
      return a === undefined ? [] : [{ line, a, b }];
    }),
  );
  const top = ({ a, b }: Segment): number => Math.min(a.y, b.y);
  const bottom = ({ a, b }: Segment): number => Math.max(a.y, b.y);
  segments.sort((p, q) => top(p) - top(q));
  let crossings = 0;
  let open: Segment[] = [];
  for (const segment of segments) {
    open = open.filter((other) => bottom(other) >= top(segment));
    for (const other of open) if (other.line !== segment.line && areCrossing(segment, other)) crossings += 1;
    open.push(segment);
  }
  return crossings;
}

function areCrossing({ a, b }: Segment, { a: c, b: d }: Segment): boolean {
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

function side(a: Point, b: Point, c: Point): number {
  return Math.sign((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
}
