import type { Cell, Link } from './cells.ts';

const SPACING = 26;
// The part of a border that is not the rounded corner.
const USABLE = 0.78;

/** Where each line meets its node: spread evenly around the middle, ordered by the lines' other ends so that none cross there. */
export function portsOf(cells: Iterable<Cell>): { upper: ReadonlyMap<Link, number>; lower: ReadonlyMap<Link, number> } {
  const ports = { upper: new Map<Link, number>(), lower: new Map<Link, number>() };
  for (const cell of cells) {
    spread(cell, cell.below, (link) => link.lower, ports.upper);
    spread(cell, cell.above, (link) => link.upper, ports.lower);
  }
  return ports;
}

function spread(cell: Cell, links: readonly Link[], otherOf: (link: Link) => Cell, ports: Map<Link, number>): void {
  const sorted = links.toSorted((a, b) => otherOf(a).x - otherOf(b).x || Number(a.isBack) - Number(b.isBack));
  const spacing = links.length < 2 ? 0 : Math.min(SPACING, (2 * cell.left * USABLE) / (links.length - 1));
  sorted.forEach((link, index) => {
    ports.set(link, cell.isBend ? cell.x : cell.x + (index - (links.length - 1) / 2) * spacing);
  });
}
