import { pointOnCurve } from './edgeCurves.ts';
import type { Box, Point } from './shape.ts';

const HEIGHT = 18;
const TRIES = [0.5, 0.36, 0.64, 0.24, 0.76, 0.14];
const CELL = 256;

/** Places labels so that they overlap neither each other nor nodes, if there is room. */
export class LabelPlaces {
  // Boxes by the cells of a coarse grid that they touch, so that thousands of labels take linear time.
  readonly #taken = new Map<string, Box[]>();

  /** Keeps labels off this box. */
  add(box: Box): void {
    for (const key of squaresOf(box)) {
      const boxes = this.#taken.get(key);
      if (boxes === undefined) this.#taken.set(key, [box]);
      else boxes.push(box);
    }
  }

  /**
   * The middle of a label on the line: near its source, where lines to one target are still apart, and where no other label
   * is. Without free room it is the middle of that part.
   */
  place(points: readonly Point[], width: number): Point {
    const curve = firstCurve(points);
    const places = TRIES.map((t) => pointOnCurve(points, curve, t));
    const free = places.find((place) => this.#isFree(boxAround(place, width)));
    const place = free ?? places[0] ?? { x: 0, y: 0 };
    if (width > 0) this.add(boxAround(place, width));
    return { x: Math.round(place.x), y: Math.round(place.y) };
  }

  #isFree(box: Box): boolean {
    return squaresOf(box).every((key) => this.#taken.get(key)?.every((other) => !boxesOverlap(box, other)) ?? true);
  }
}

/** Whether two boxes share more than a border. */
export function boxesOverlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

// The piece that leaves the row of the source: the one before it only leads along a shorter node to the row's end.
function firstCurve(points: readonly Point[]): number {
  const bent = points.findIndex((point, index) => index > 0 && point.x !== points[index - 1]?.x);
  return bent === -1 ? points.length - 1 : bent;
}

function boxAround({ x, y }: Point, width: number): Box {
  return { x: x - width / 2, y: y - HEIGHT / 2, width, height: HEIGHT };
}

function squaresOf({ x, y, width, height }: Box): string[] {
  const keys: string[] = [];
  for (let column = Math.floor(x / CELL); column <= Math.floor((x + width) / CELL); column += 1) {
    for (let row = Math.floor(y / CELL); row <= Math.floor((y + height) / CELL); row += 1)
      keys.push(`${column} ${row}`);
  }
  return keys;
}
