import type { QuerySet } from './querySet.ts';

/** How well an index ranks, each from 0 to 1, means over the queries. */
export interface Quality {
  /** 1 / the rank of the first answer; 0 where none is among the first ten (mean reciprocal rank). */
  readonly mrr: number;
  /** The part of the answers that is among the first five chunks. */
  readonly recall: number;
  /** Gains of 1 for each answer among the first ten, discounted by the logarithm of their ranks, against the ideal order. */
  readonly ndcg: number;
  /** The part of the queries with an answer in the first 8,000 characters of chunks, which is fair between sizes of chunks. */
  readonly reach: number;
}

/** Returns the numbers of chunks, best first. */
export type Search = (query: string, limit: number) => readonly number[];

const TOP = 10;
const RECALL_TOP = 5;
const REACH_CHARACTERS = 8000;
// More chunks than fit into the reach: the smallest have a line or two.
const DEPTH = 60;

export function measureQuality(search: Search, { chunks, queries }: QuerySet): Quality {
  const sums = { mrr: 0, recall: 0, ndcg: 0, reach: 0 };
  for (const { text, answers } of queries) {
    const found = search(text, DEPTH);
    const ranks = answers.map((ids) => found.findIndex((id) => ids.includes(id)) + 1).filter((rank) => rank > 0);
    ranks.sort((a, b) => a - b);
    const top = ranks.filter((rank) => rank <= TOP);
    const [first] = ranks;
    if (top[0] !== undefined) sums.mrr += 1 / top[0];
    sums.recall += ranks.filter((rank) => rank <= RECALL_TOP).length / answers.length;
    const ideal = Array.from({ length: Math.min(answers.length, TOP) }, (_, at) => gainAt(at + 1));
    sums.ndcg += sum(top.map(gainAt)) / sum(ideal);
    const read = found.slice(0, first).map((id) => chunks[id]?.text.length ?? 0);
    if (first !== undefined && sum(read) <= REACH_CHARACTERS) sums.reach += 1;
  }
  const count = queries.length;
  return { mrr: sums.mrr / count, recall: sums.recall / count, ndcg: sums.ndcg / count, reach: sums.reach / count };
}

function gainAt(rank: number): number {
  return 1 / Math.log2(rank + 1);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
