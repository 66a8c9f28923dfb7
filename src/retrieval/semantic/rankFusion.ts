// Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning Methods"
// (SIGIR 2009): 60 was the best of the constants they tried, and results hardly depend on it.
const K = 60;

export interface Fused<T> {
  readonly item: T;
  readonly score: number;
}

/**
 * Combines rankings whose scores cannot be compared: an item scores 1 / (60 + rank) in each ranking that contains it, with ranks from
 * 1. Best first; equal scores in the order of the rankings.
 */
export function fuseRankings<T>(rankings: readonly (readonly T[])[], keyOf: (item: T) => string): readonly Fused<T>[] {
  const fused = new Map<string, { readonly item: T; score: number }>();
  for (const ranking of rankings) {
    for (const [index, item] of ranking.entries()) {
      const key = keyOf(item);
      const entry = fused.get(key) ?? { item, score: 0 };
      entry.score += 1 / (K + index + 1);
      fused.set(key, entry);
    }
  }
  return [...fused.values()].sort((a, b) => b.score - a.score);
}
