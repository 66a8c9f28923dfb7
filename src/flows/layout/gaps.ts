import type { GridCell, Grid } from './grid.ts';
import { bendKey } from './grid.ts';
import { gapBetween, separate } from './assignColumns.ts';
import type { Box, Layout } from './shape.ts';

/** The earlier layout, and the number in it of each row from the top. */
export interface Earlier {
  readonly layout: Layout;
  readonly rows: readonly number[];
}

/**
 * Assigns axes to cells while keeping the earlier layout: existing cells stay on their axes, and a new cell takes the free
 * position of its row nearest to its neighbours. Only cells that have grown move others, and no farther than necessary.
 * Sorts each row by axis.
 */
export function keepColumns(grid: Grid, { layout, rows }: Earlier, obstacles: readonly (readonly Box[])[]): void {
  const wishes = grid.rows.map((row, index) => axesOf(row, layout, rows[index]));
  const cells = new Set<GridCell>();
  grid.rows.forEach((row, index) => {
    for (const cell of row) {
      const old = wishes[index]?.get(cell);
      // A cell that came from another row finds its place after those that were here.
      if (old === undefined || (!cell.isBend && layout.nodes.get(cell.key)?.row !== rows[index])) continue;
      cell.x = old;
      cells.add(cell);
    }
  });
  grid.rows.forEach((row, index) => {
    const settled = row.filter((cell) => cells.has(cell)).sort((a, b) => a.x - b.x);
    for (const cell of row.filter((candidate) => !cells.has(candidate))) {
      const wish = wishes[index]?.get(cell) ?? meanOfNeighbours(cell, cells);
      cell.x = Math.round(nearestFree(cell, wish, settled, obstacles[index] ?? []));
      settled.splice(firstRightOf(settled, cell.x), 0, cell);
      cells.add(cell);
    }
    row.splice(0, row.length, ...settled);
    row.forEach((cell, position) => {
      cell.position = position;
    });
    separate(row, ({ x }) => x);
  });
}

function axesOf(row: readonly GridCell[], previous: Layout, oldRow: number | undefined): Map<GridCell, number> {
  const axes = new Map<GridCell, number>();
  for (const cell of row) {
    const node = cell.isBend ? undefined : previous.nodes.get(cell.key);
    const axis = cell.isBend
      ? previous.bends.get(bendKey(cell.key, oldRow ?? cell.row))
      : node && node.x + node.width / 2;
    if (axis !== undefined) axes.set(cell, axis);
  }
  return axes;
}

function meanOfNeighbours(cell: GridCell, placed: ReadonlySet<GridCell>): number {
  const above = cell.above.map(({ upper }) => upper).filter((other) => placed.has(other));
  const others = above.length > 0 ? above : cell.below.map(({ lower }) => lower).filter((other) => placed.has(other));
  return others.length === 0 ? 0 : others.reduce((sum, { x }) => sum + x, 0) / others.length;
}

function nearestFree(cell: GridCell, wish: number, settled: readonly GridCell[], obstacles: readonly Box[]): number {
  const intervals = [
    ...settled.map((other): [number, number] => {
      const gap = gapBetween(other, cell);
      return [other.x - other.left - gap - cell.right, other.x + other.right + gap + cell.left];
    }),
    ...obstacles.map(({ x, width }): [number, number] => [x - cell.right, x + width + cell.left]),
  ];
  const isFree = (x: number): boolean => intervals.every(([from, to]) => x <= from || x >= to);
  const candidates = [wish, ...intervals.flat()].filter(isFree);
  return candidates.reduce((best, x) => (Math.abs(x - wish) < Math.abs(best - wish) ? x : best), candidates[0] ?? wish);
}

function firstRightOf(cells: readonly GridCell[], x: number): number {
  const index = cells.findIndex((cell) => cell.x > x);
  return index === -1 ? cells.length : index;
}
