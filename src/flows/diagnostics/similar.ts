/** The names that are nearest to a misspelt one, the nearest first; then the others in their order. */
export function closest(name: string, names: readonly string[]): string[] {
  return names
    .map((one) => ({ one, distance: distanceBetween(name.toLowerCase(), one.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance)
    .map(({ one }) => one);
}

/** How many letters differ (Levenshtein 1965). */
export function distanceBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of a.split('').entries()) {
    const next = [i + 1];
    for (const [j, other] of b.split('').entries()) {
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
