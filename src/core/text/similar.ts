const MAX_DISTANCE = 3;

/** The names sorted by similarity to a misspelled one, the nearest first. Equally near names keep their order. */
export function closest(name: string, names: readonly string[]): string[] {
  return names
    .map((one) => ({ one, distance: editDistance(name.toLowerCase(), one.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance)
    .map(({ one }) => one);
}

/** The name that a misspelled one most likely means; undefined if none is near. At most three letters and a third of the word may differ. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const limit = Math.min(MAX_DISTANCE, Math.ceil(name.length / 3));
  const [first] = closest(name, names);
  const isNear = first !== undefined && editDistance(name.toLowerCase(), first.toLowerCase(), limit) <= limit;
  return isNear ? first : undefined;
}

/**
 * The number of different letters, where a swap of two counts as one (optimal string alignment, after Damerau 1964 and Levenshtein 1966).
 * A distance above `limit` is returned as `limit + 1` as soon as that is certain.
 */
export function editDistance(a: string, b: string, limit: number = Number.POSITIVE_INFINITY): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      // Before the first letter, both are undefined, which no letter equals.
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwapped ? (before[j - 2] ?? 0) + 1 : change;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    if (Math.min(...next) > limit && Math.min(...row) > limit) return limit + 1;
    before = row;
    row = next;
  }
  return Math.min(row[b.length] ?? 0, limit + 1);
}
