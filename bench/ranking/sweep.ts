import { CHUNK_BOUNDS, type ChunkBounds } from '../../src/retrieval/chunks/chunk.ts';
import { type Checkout, docstringSet } from './docstrings.ts';
import { FieldScorer, type Weights } from './fieldScorer.ts';
import { measureQuality, type Quality } from './quality.ts';
import type { QuerySet } from './querySet.ts';

// As shipped; each row of the first table changes one of them.
const SHIPPED: Weights = { body: 1, symbol: 8, scope: 2, name: 2, path: 1, summary: 1, k1: 2, b: 0.85 };
const TRIALS: Readonly<Record<keyof Weights, readonly number[]>> = {
  body: [],
  symbol: [0, 4, 16],
  scope: [0, 1, 4],
  name: [0, 1, 4],
  path: [0, 0.5, 2],
  summary: [0, 2],
  k1: [1.2, 1.6, 3],
  b: [0.6, 0.75, 0.95],
};
const BOUNDS: readonly ChunkBounds[] = [
  { lines: 20, characters: 750 },
  { lines: 25, characters: 1000 },
  { lines: 40, characters: 1000 },
  { lines: 40, characters: 1500 },
  { lines: 80, characters: 3000 },
];

/** Prints MRR@10 and the recall in 8,000 characters of each set for other weights, then of checkouts for other bounds of chunks. */
export function sweep(
  checkouts: readonly Checkout[],
  collections: readonly QuerySet[],
  print: (line: string) => void,
): void {
  const sets = [...checkouts.map((checkout) => docstringSet(checkout)), ...collections];
  const scorers = sets.map((set) => ({ set, scorer: new FieldScorer(set) }));
  const row = (title: string, weights: Weights): void => {
    const results = scorers.map(({ set, scorer }) => measureQuality(scorer.search(weights), set));
    print(format(title, results));
  };
  print(
    `\n${' '.repeat(20)}${sets.map(({ name }) => name.padStart(16)).join('')}   (MRR@10, recall in 8,000 characters)`,
  );
  row('as shipped', SHIPPED);
  for (const [name, values] of Object.entries(TRIALS)) {
    for (const value of values) row(`${name} ${value}`, { ...SHIPPED, [name]: value });
  }
  print(`\n${'chunks of at most'.padEnd(20)}${checkouts.map(({ name }) => name.padStart(16)).join('')}`);
  for (const bounds of BOUNDS) {
    const results = checkouts.map((checkout) => {
      const set = docstringSet(checkout, bounds);
      return measureQuality(new FieldScorer(set).search(SHIPPED), set);
    });
    const isShipped = bounds.lines === CHUNK_BOUNDS.lines && bounds.characters === CHUNK_BOUNDS.characters;
    print(format(`${bounds.lines} / ${bounds.characters}${isShipped ? ' *' : ''}`, results));
  }
}

function format(title: string, results: readonly Quality[]): string {
  const cells = results.map(({ mrr, reach }) => `${mrr.toFixed(3)} ${reach.toFixed(3)}`.padStart(16));
  return title.padEnd(20) + cells.join('');
}
