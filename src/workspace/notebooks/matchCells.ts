export interface CellIdentity {
  /** That of nbformat 4.5 and newer. */
  readonly id?: string | undefined;
  readonly isCode: boolean;
  /** The source, or a hash of it. */
  readonly source: string;
}

/**
 * Finds the cells of one version of a notebook in another version, in which cells may have been edited, added, removed and moved. A cell
 * is the one with the same ID, or else with the same source. Where no IDs tell them apart, as many cells between two that were found
 * are the same ones, edited.
 *
 * @returns for each cell of `cells`, its index in `others`; undefined if it is not there.
 */
export function matchCells(
  cells: readonly CellIdentity[],
  others: readonly CellIdentity[],
): readonly (number | undefined)[] {
  const found = cells.map((): number | undefined => undefined);
  const taken = new Set<number>();
  const matchBy = (keyOf: (cell: CellIdentity) => string | undefined): void => {
    const free = new Map<string, number[]>();
    for (const [index, cell] of others.entries()) {
      const key = taken.has(index) ? undefined : keyOf(cell);
      if (key === undefined) continue;
      const same = free.get(key);
      if (same === undefined) free.set(key, [index]);
      else same.push(index);
    }
    for (const [index, cell] of cells.entries()) {
      const key = found[index] === undefined ? keyOf(cell) : undefined;
      const other = key === undefined ? undefined : free.get(key)?.shift();
      if (other === undefined) continue;
      found[index] = other;
      taken.add(other);
    }
  };
  matchBy(({ id, isCode }) => (id === undefined ? undefined : `${isCode} ${id}`));
  matchBy(({ isCode, source }) => `${isCode} ${source}`);
  matchGaps(cells, others, found);
  return found;
}

/** Pairs the cells between two that were found, if both versions have equally many there, of the same kinds. */
function matchGaps(
  cells: readonly CellIdentity[],
  others: readonly CellIdentity[],
  found: (number | undefined)[],
): void {
  const taken = new Set(found);
  let start = 0;
  for (let end = 0; end <= cells.length; end += 1) {
    const other = end === cells.length ? others.length : found[end];
    if (other === undefined) continue;
    const first = start === 0 ? 0 : (found[start - 1] ?? 0) + 1;
    const isGap = other - first === end - start;
    const pairs = isGap ? cells.slice(start, end).map((cell, index) => [cell, first + index] as const) : [];
    const fits = pairs.every(([cell, index]) => !taken.has(index) && mayBeSame(cell, others[index]));
    if (fits) for (const [offset, [, index]] of pairs.entries()) found[start + offset] = index;
    start = end + 1;
  }
}

function mayBeSame(cell: CellIdentity, other: CellIdentity | undefined): boolean {
  return other?.isCode === cell.isCode && (cell.id === undefined || other.id === undefined);
}
