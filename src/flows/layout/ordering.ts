import type { GridCell, CellLink } from './grid.ts';

const MAX_SWEEPS = 24;
const SWEEPS_WITHOUT_GAIN = 4;
const MAX_SWAP_ROUNDS = 8;

/**
 * Orders the cells of each row so that few lines cross: sweeps of weighted medians down and up, each followed by swaps of
 * neighbours, and the best order seen (Gansner, Koutsofios, North, Vo, "A technique for drawing directed graphs", 1993).
 */
export function orderRows(rows: GridCell[][]): void {
  orderByReading(rows);
  let best = snapshot(rows);
  let fewest = countCrossings(rows);
  for (let sweep = 0, idle = 0; sweep < MAX_SWEEPS && idle < SWEEPS_WITHOUT_GAIN && fewest > 0; sweep += 1) {
    sortByMedians(rows, sweep % 2 === 0);
    swapNeighbours(rows);
    const crossings = countCrossings(rows);
    idle += 1;
    if (crossings < fewest) {
      fewest = crossings;
      best = snapshot(rows);
      idle = 0;
    }
  }
  best.forEach((cells, index) => {
    rows[index]?.splice(0, cells.length, ...cells);
    number(cells);
  });
}

/** A depth-first walk from the top puts siblings side by side, in the order of the source. */
function orderByReading(rows: GridCell[][]): void {
  const sorted: GridCell[][] = rows.map(() => []);
  const seen = new Set<GridCell>();
  const first = rows[0]?.[0]?.row ?? 0;
  for (const root of rows.flat()) {
    const stack = [root];
    for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
      if (seen.has(cell)) continue;
      seen.add(cell);
      sorted[cell.row - first]?.push(cell);
      for (const { lower } of cell.below.toReversed()) stack.push(lower);
    }
  }
  sorted.forEach((cells, index) => {
    rows[index]?.splice(0, cells.length, ...cells);
    number(cells);
  });
}

function sortByMedians(rows: GridCell[][], isDown: boolean): void {
  for (const row of isDown ? rows : rows.toReversed()) {
    const medians = new Map<GridCell, number>();
    for (const cell of row) medians.set(cell, medianOf(isDown ? cell.above : cell.below, isDown) ?? cell.position);
    row.sort((a, b) => (medians.get(a) ?? 0) - (medians.get(b) ?? 0) || a.position - b.position);
    number(row);
  }
}

function medianOf(links: readonly CellLink[], isDown: boolean): number | undefined {
  const positions = links.map(({ upper, lower }) => (isDown ? upper : lower).position).sort((a, b) => a - b);
  const middle = positions.length >> 1;
  const [low, high] = [positions[middle - 1], positions[middle]];
  if (high === undefined || low === undefined || positions.length % 2 === 1) return high;
  if (positions.length === 2) return (low + high) / 2;
  // The side on which the neighbours lie closer together pulls more.
  const [leftSpread, rightSpread] = [low - (positions[0] ?? 0), (positions.at(-1) ?? 0) - high];
  const spread = leftSpread + rightSpread;
  return spread === 0 ? (low + high) / 2 : (low * rightSpread + high * leftSpread) / spread;
}

function swapNeighbours(rows: readonly GridCell[][]): void {
  for (let round = 0, hasGain = true; hasGain && round < MAX_SWAP_ROUNDS; round += 1) {
    hasGain = false;
    for (const row of rows) {
      for (let index = 1; index < row.length; index += 1) {
        const [left, right] = [row[index - 1], row[index]];
        if (left === undefined || right === undefined || gainOfSwap(left, right) <= 0) continue;
        row[index - 1] = right;
        row[index] = left;
        right.position = index - 1;
        left.position = index;
        hasGain = true;
      }
    }
  }
}

/** How many crossings are saved by swapping two neighbours. */
function gainOfSwap(left: GridCell, right: GridCell): number {
  let gain = 0;
  for (const a of left.above) {
    for (const b of right.above) gain += a.weight * b.weight * Math.sign(a.upper.position - b.upper.position);
  }
  for (const a of left.below) {
    for (const b of right.below) gain += a.weight * b.weight * Math.sign(a.lower.position - b.lower.position);
  }
  return gain;
}

function number(row: readonly GridCell[]): void {
  row.forEach((cell, position) => {
    cell.position = position;
  });
}

const snapshot = (rows: readonly (readonly GridCell[])[]): GridCell[][] => rows.map((row) => [...row]);

/**
 * How often the lines below a row cross each other, by the positions of the cells.
 *
 * Counts inversions with an accumulator tree in O(lines · log cells): Barth, Jünger and Mutzel, "Simple and efficient
 * bilayer cross counting", 2002.
 */
function crossingsBelow(row: readonly GridCell[], widthBelow: number): number {
  let leaves = 1;
  while (leaves < widthBelow) leaves *= 2;
  const tree = new Float64Array(2 * leaves);
  let crossings = 0;
  for (const cell of row) {
    const links =
      cell.below.length < 2 ? cell.below : cell.below.toSorted((a, b) => a.lower.position - b.lower.position);
    for (const { lower, weight } of links) {
      let at = lower.position + leaves;
      tree[at] = (tree[at] ?? 0) + weight;
      while (at > 1) {
        if (at % 2 === 0) crossings += weight * (tree[at + 1] ?? 0);
        at = Math.floor(at / 2);
        tree[at] = (tree[at] ?? 0) + weight;
      }
    }
  }
  return crossings;
}

/** All crossings of a grid. */
function countCrossings(rows: readonly (readonly GridCell[])[]): number {
  return rows.reduce((sum, row, index) => sum + crossingsBelow(row, rows[index + 1]?.length ?? 0), 0);
}
