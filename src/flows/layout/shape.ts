export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A rectangle in pixels; `x` and `y` are its top left corner. */
export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export interface LayoutNode {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  /** Top left corner of a node that was moved by hand. The layout leaves it there and keeps new nodes off it. */
  readonly movedTo?: Point | undefined;
}

export interface LayoutEdge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** Pixels that its label needs; 0 for none. */
  readonly labelWidth: number;
}

/** A graph to lay out. The layout starts at the first node; edges to unknown nodes are ignored. */
export interface LayoutGraph {
  readonly nodes: readonly LayoutNode[];
  readonly edges: readonly LayoutEdge[];
}

export interface PlacedNode extends Box {
  readonly id: string;
  /** The row from the top; rows above the first of an earlier layout are negative. Undefined for moved nodes. */
  readonly row: number | undefined;
}

export interface PlacedEdge {
  readonly id: string;
  /**
   * From the source's border to the target's. Two neighbours with the same `x` are joined by a straight line, others by a
   * curve that leaves and arrives upright: see `pathOf`.
   */
  readonly points: readonly Point[];
  /** The middle of its label. */
  readonly label: Point;
}

export interface Layout extends Box {
  readonly nodes: ReadonlyMap<string, PlacedNode>;
  readonly edges: ReadonlyMap<string, PlacedEdge>;
  /** Where connections cross rows, as hints for the next layout: `x` by the key of the bend and its row. */
  readonly bends: ReadonlyMap<string, number>;
}

/** The smallest box around all `boxes`; an empty one at the origin for none. */
export function boundsOf(boxes: Iterable<Box>): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y, width, height } of boxes) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + width);
    bottom = Math.max(bottom, y + height);
  }
  if (left > right) return { x: 0, y: 0, width: 0, height: 0 };
  return { x: left, y: top, width: right - left, height: bottom - top };
}
