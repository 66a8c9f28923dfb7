import type { Cell } from './cells.ts';

/**
 * How often the lines below a row cross each other, by the positions of the cells.
 *
 * Counts inversions with an accumulator tree in O(lines · log cells): Barth, Jünger and Mutzel, "Simple and efficient
 * bilayer cross counting", 2002.
 */
function crossingsBelow(row: readonly Cell[], widthBelow: number): number {
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
export function countCrossings(rows: readonly (readonly Cell[])[]): number {
  return rows.reduce((sum, row, index) => sum + crossingsBelow(row, rows[index + 1]?.length ?? 0), 0);
}
