import type { GridCell, CellLink } from './grid.ts';

const SWEEPS = 12;
const GAP = 28;
const BEND_GAP = 10;
// How strongly a line is kept straight: most for a line through two bends, whose kinks are most visible.
const STRAIGHTNESS = [1, 3, 12] as const;

/** Pixels between the borders of two neighbours of a row. */
export function gapBetween(left: GridCell, right: GridCell): number {
  return left.isBend && right.isBend ? BEND_GAP : left.isBend || right.isBend ? (GAP + BEND_GAP) / 2 : GAP;
}

/** Assigns each cell of ordered rows an axis near those of its neighbours above and below, without overlaps. */
export function assignColumns(rows: readonly (readonly GridCell[])[]): void {
  for (const row of rows) separate(row, () => 0);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isDown = sweep % 2 === 0;
    const isLast = sweep >= SWEEPS - 2;
    for (const row of isDown ? rows : rows.toReversed()) {
      separate(row, (cell) => {
        const links = isLast ? [...cell.above, ...cell.below] : isDown ? cell.above : cell.below;
        return pullOf(cell, links);
      });
    }
  }
  straightenPairs(rows);
  straightenBends(rows);
}

function pullOf(cell: GridCell, links: readonly CellLink[]): number {
  let [sum, weights] = [0, 0];
  for (const { upper, lower } of links) {
    const other = upper === cell ? lower : upper;
    const weight = straightness(upper, lower);
    sum += weight * other.x;
    weights += weight;
  }
  return weights === 0 ? cell.x : sum / weights;
}

const straightness = (a: GridCell, b: GridCell): number =>
  STRAIGHTNESS[a.isBend && b.isBend ? 2 : a.isBend || b.isBend ? 1 : 0];

/**
 * Moves the cells of a row as near to their preferred axes as order and widths allow, minimizing the sum of squares
 * by pooling neighbours that would overlap (Barlow et al., "Statistical inference under order restrictions", 1972).
 */
export function separate(row: readonly GridCell[], wish: (cell: GridCell) => number): void {
  const blocks: { sum: number; weight: number; readonly from: number; offset: number }[] = [];
  const offsets: number[] = [];
  let offset = 0;
  row.forEach((cell, index) => {
    const previous = row[index - 1];
    if (previous !== undefined) offset += previous.right + gapBetween(previous, cell) + cell.left;
    offsets.push(offset);
    const weight = cell.isBend ? 4 : 1;
    blocks.push({ sum: weight * (wish(cell) - offset), weight, from: index, offset });
    for (
      let last = blocks.at(-1), before = blocks.at(-2);
      last && before;
      last = blocks.at(-1), before = blocks.at(-2)
    ) {
      if (before.sum / before.weight <= last.sum / last.weight) break;
      before.sum += last.sum;
      before.weight += last.weight;
      blocks.pop();
    }
  });
  blocks.forEach(({ sum, weight, from }, index) => {
    const to = blocks[index + 1]?.from ?? row.length;
    for (let at = from; at < to; at += 1) {
      const cell = row[at];
      if (cell !== undefined) cell.x = Math.round(sum / weight + (offsets[at] ?? 0));
    }
  });
}

/** Puts a cell directly below its only predecessor if it is that cell's only successor and there is room. */
function straightenPairs(rows: readonly (readonly GridCell[])[]): void {
  for (const row of rows) {
    for (const cell of row) {
      const upper = onlyOne(cell.above.map((link) => link.upper));
      if (upper === undefined || onlyOne(upper.below.map((link) => link.lower)) !== cell) continue;
      const [low, high] = freedomOf(cell, row);
      if (low <= high) cell.x = Math.min(Math.max(upper.x, low), high);
    }
  }
}

function onlyOne(cells: readonly GridCell[]): GridCell | undefined {
  return cells.every((cell) => cell === cells[0]) ? cells[0] : undefined;
}

/** Puts runs of bends that can share one axis on that axis. */
function straightenBends(rows: readonly (readonly GridCell[])[]): void {
  const seen = new Set<GridCell>();
  for (const cell of rows.flat()) {
    if (!cell.isBend || seen.has(cell)) continue;
    let run: GridCell[] = [];
    let [low, high] = [-Infinity, Infinity];
    for (let at: GridCell | undefined = cell; at !== undefined; at = nextBend(at)) {
      seen.add(at);
      const [from, to] = freedomOf(at, rows[at.row - (rows[0]?.[0]?.row ?? 0)] ?? []);
      if (Math.max(low, from) > Math.min(high, to)) {
        align(run, low, high);
        run = [];
        [low, high] = [-Infinity, Infinity];
      }
      run.push(at);
      low = Math.max(low, from);
      high = Math.min(high, to);
    }
    align(run, low, high);
  }
}

function nextBend(cell: GridCell): GridCell | undefined {
  return cell.below.find(({ lower }) => lower.isBend && lower.key === cell.key)?.lower;
}

function freedomOf(cell: GridCell, row: readonly GridCell[]): readonly [number, number] {
  const [before, after] = [row[cell.position - 1], row[cell.position + 1]];
  return [
    before === undefined ? -Infinity : before.x + before.right + gapBetween(before, cell) + cell.left,
    after === undefined ? Infinity : after.x - after.left - gapBetween(cell, after) - cell.right,
  ];
}

function align(run: readonly GridCell[], low: number, high: number): void {
  if (run.length < 2) return;
  const middle = run.reduce((sum, { x }) => sum + x, 0) / run.length;
  const x = Math.round(Math.min(Math.max(middle, low), high));
  for (const cell of run) cell.x = x;
}
