import { type Arc, lowerOf, upperOf, type Vertex } from './vertices.ts';

/** An element of a row: a node, or the point where connections to one node cross the row. */
export interface GridCell {
  /** The node's id, or the key of the bend. */
  readonly key: string;
  readonly isBend: boolean;
  readonly row: number;
  /** Pixels that it takes on either side of its axis. */
  readonly left: number;
  readonly right: number;
  readonly above: CellLink[];
  readonly below: CellLink[];
  /** Place in the row, from 0. */
  position: number;
  /** The axis. */
  x: number;
}

/** One drawn line between cells of neighbouring rows; several connections with one target share it. */
export interface CellLink {
  readonly upper: GridCell;
  readonly lower: GridCell;
  readonly isBack: boolean;
  /** How many connections it represents. */
  weight: number;
}

export interface Grid {
  /** Cells by row, from the top. */
  readonly rows: GridCell[][];
  readonly firstRow: number;
  readonly nodes: ReadonlyMap<string, GridCell>;
  /** The links that an arc is drawn with, from the top. */
  readonly chains: ReadonlyMap<Arc, readonly CellLink[]>;
}

const BEND_HALF_WIDTH = 7;

/** Pixels that a node needs beside its right border for the connections to itself. */
export type LoopWidth = (id: string) => number;

/**
 * Puts nodes and the bends of long connections into rows.
 *
 * Connections that reach one node from the same side share their bends. So a handler with a thousand predecessors costs a
 * thousand cells and one line, instead of half a million.
 */
export function buildGrid(vertices: readonly Vertex[], arcs: readonly Arc[], loopWidth: LoopWidth): Grid {
  const [first, last] = vertices.reduce(([low, high], { row }) => [Math.min(low, row), Math.max(high, row)], [
    Infinity,
    -Infinity,
  ] as const);
  const rows: GridCell[][] = Array.from({ length: Math.max(0, last - first + 1) }, () => []);
  const add = (cell: Omit<GridCell, 'above' | 'below' | 'position' | 'x'>): GridCell => {
    const row = rows[cell.row - first];
    const added = { ...cell, above: [], below: [], position: row?.length ?? 0, x: 0 };
    row?.push(added);
    return added;
  };

  const nodes = new Map<string, GridCell>();
  for (const { node, row } of vertices) {
    const half = node.width / 2;
    const right = half + loopWidth(node.id);
    nodes.set(node.id, add({ key: node.id, isBend: false, row, left: half, right }));
  }
  const bends = new Map<string, GridCell>();
  const bendOf = (key: string, row: number): GridCell => {
    const name = bendKey(key, row);
    const sharedBend = bends.get(name);
    if (sharedBend !== undefined) return sharedBend;
    const bend = add({ key, isBend: true, row, left: BEND_HALF_WIDTH, right: BEND_HALF_WIDTH });
    bends.set(name, bend);
    return bend;
  };

  const chains = new Map<Arc, readonly CellLink[]>();
  for (const arc of arcs) {
    const [upper, lower] = [nodes.get(upperOf(arc).node.id), nodes.get(lowerOf(arc).node.id)];
    if (upper === undefined || lower === undefined) continue;
    const key = `${arc.isBack ? '<' : '>'}${arc.to.node.id}`;
    const chain: CellLink[] = [];
    let at = upper;
    for (let row = upper.row + 1; row <= lower.row; row += 1) {
      const next = row === lower.row ? lower : bendOf(key, row);
      chain.push(linkOf(at, next, arc.isBack));
      at = next;
    }
    chains.set(arc, chain);
  }
  return { rows, firstRow: first, nodes, chains };
}

/** The key of a bend, which is the same in the next layout. */
export const bendKey = (key: string, row: number): string => `${row} ${key}`;

function linkOf(upper: GridCell, lower: GridCell, isBack: boolean): CellLink {
  const [some, others] =
    upper.below.length < lower.above.length ? [upper.below, lower.above] : [lower.above, upper.below];
  const existing = some.find((link) => link.upper === upper && link.lower === lower && link.isBack === isBack);
  if (existing !== undefined) {
    existing.weight += 1;
    return existing;
  }
  const link = { upper, lower, isBack, weight: 1 };
  some.push(link);
  others.push(link);
  return link;
}
