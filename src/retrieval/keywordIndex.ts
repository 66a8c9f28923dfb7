import type { Chunk } from './chunk.ts';
import { buildSegment, type Segment } from './segment.ts';
import { TopK } from './topK.ts';
import { WordAnalyzer } from './words.ts';

// BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with k1 above the usual 1.2, which ranks
// better once the names of definitions are weighted.
const K1 = 2;
const B = 0.75;
// Searching costs a little per segment and merging costs its size, so small ones are merged before they are many.
const MAX_SEGMENTS = 8;

export interface Hit {
  readonly chunk: Chunk;
  readonly score: number;
}

interface LiveSegment {
  readonly segment: Segment;
  /** 1 for each chunk that was removed since the segment was built. */
  readonly removed: Uint8Array;
  live: number;
  liveLength: number;
}

/**
 * Chunks ranked by BM25. Changing a source marks its old chunks as removed and adds a small segment, so an update costs what
 * the source costs and not what the index does.
 */
export class KeywordIndex {
  readonly #analyzer = new WordAnalyzer();
  #segments: LiveSegment[] = [];

  get chunkCount(): number {
    return this.#segments.reduce((sum, { live }) => sum + live, 0);
  }

  /** Adds chunks of sources that are not in the index yet; `replace` is for those that are. */
  add(chunks: readonly Chunk[]): void {
    if (chunks.length === 0) return;
    const segment = buildSegment(chunks, this.#analyzer);
    this.#segments.push({
      segment,
      removed: new Uint8Array(chunks.length),
      live: chunks.length,
      liveLength: segment.lengths.reduce((sum, length) => sum + length, 0),
    });
    if (this.#segments.length > MAX_SEGMENTS) this.#merge();
  }

  replace(source: string, chunks: readonly Chunk[]): void {
    this.remove(source);
    this.add(chunks);
  }

  remove(source: string): void {
    for (const entry of this.#segments) {
      for (const [document, chunk] of entry.segment.chunks.entries()) {
        if (chunk.source !== source || entry.removed[document] === 1) continue;
        entry.removed[document] = 1;
        entry.live -= 1;
        entry.liveLength -= entry.segment.lengths[document] ?? 0;
      }
    }
    this.#segments = this.#segments.filter(({ live }) => live > 0);
  }

  /** The best `limit` chunks, best first; equal scores in the order in which they were added. */
  search(query: string, limit: number): readonly Hit[] {
    const terms = this.#analyzer.queryTerms(query);
    const total = this.chunkCount;
    if (terms.length === 0 || total === 0 || limit < 1) return [];
    const averageLength = this.#segments.reduce((sum, { liveLength }) => sum + liveLength, 0) / total || 1;
    const weights = new Map<string, number>();
    for (const term of terms) {
      const holders = this.#segments.reduce((sum, entry) => sum + countHolders(entry, term), 0);
      if (holders > 0) weights.set(term, Math.log(1 + (total - holders + 0.5) / (holders + 0.5)));
    }
    const best = new TopK<Chunk>(limit);
    for (const entry of this.#segments) scoreSegment(entry, weights, averageLength, best);
    return best.sorted().map(({ item, score }) => ({ chunk: item, score }));
  }

  #merge(): void {
    const chunks = this.#segments.flatMap(({ segment, removed }) =>
      segment.chunks.filter((_chunk, document) => removed[document] !== 1),
    );
    this.#segments = [];
    this.add(chunks);
  }
}

function countHolders({ segment, removed, live }: LiveSegment, term: string): number {
  const id = segment.terms.get(term);
  if (id === undefined) return 0;
  const [from = 0, to = 0] = [segment.offsets[id], segment.offsets[id + 1]];
  if (live === segment.chunks.length) return to - from;
  let holders = 0;
  for (let at = from; at < to; at += 1) if (removed[segment.documents[at] ?? 0] !== 1) holders += 1;
  return holders;
}

function scoreSegment(
  { segment, removed }: LiveSegment,
  weights: ReadonlyMap<string, number>,
  averageLength: number,
  best: TopK<Chunk>,
): void {
  const { offsets, documents, frequencies, lengths, chunks } = segment;
  const scores = new Float64Array(chunks.length);
  for (const [term, weight] of weights) {
    const id = segment.terms.get(term);
    if (id === undefined) continue;
    const to = offsets[id + 1] ?? 0;
    for (let at = offsets[id] ?? 0; at < to; at += 1) {
      const document = documents[at] ?? 0;
      const frequency = frequencies[at] ?? 0;
      const norm = K1 * (1 - B + (B * (lengths[document] ?? 0)) / averageLength);
      scores[document] = (scores[document] ?? 0) + (weight * frequency * (K1 + 1)) / (frequency + norm);
    }
  }
  for (const [document, chunk] of chunks.entries()) {
    const score = scores[document] ?? 0;
    if (score > 0 && removed[document] !== 1) best.offer(chunk, score);
  }
}
