import type { Chunk } from './chunks/chunk.ts';
import { holdsPhrases, PHRASE_GROWTH } from './search/phrase.ts';
import { plainQuery, type Query } from './search/query.ts';
import { SegmentBuilder } from './segments/segmentBuilder.ts';
import type { Source, SourceStatus } from './segments/segment.ts';
import { SegmentSet } from './search/segmentSet.ts';
import { toTermQuery } from './search/termQuery.ts';
import { WordAnalyzer } from './tokenizer/wordAnalyzer.ts';

export interface Hit {
  readonly chunk: Chunk;
  readonly score: number;
}

/**
 * Chunks in memory, ranked by BM25. Changing a source marks its old chunks as removed and adds a small segment, so the cost of an
 * update depends on the source, not on the index.
 */
export class KeywordIndex {
  readonly #analyzer = new WordAnalyzer();
  readonly #segments = new SegmentSet();
  readonly #chunks = new Map<string, readonly Chunk[]>();

  get chunkCount(): number {
    return this.#segments.documentCount;
  }

  /**
   * Adds chunks. If their source exists already, they replace its old ones.
   *
   * @throws AppError `limit` if they are too many to count in one step; nothing is changed then.
   */
  add(chunks: readonly Chunk[]): void {
    if (chunks.length === 0) return;
    const builder = new SegmentBuilder();
    const sources = Map.groupBy(chunks, ({ source }) => source);
    for (const [path, own] of sources) builder.add(unread(path, 'indexed'), own);
    this.#segments.add(builder.finish());
    for (const [path, own] of sources) this.#chunks.set(path, own);
    this.#segments.compact();
  }

  replace(source: string, chunks: readonly Chunk[]): void {
    if (chunks.length === 0) this.remove(source);
    else this.add(chunks);
  }

  remove(source: string): void {
    if (!this.#chunks.delete(source)) return;
    const builder = new SegmentBuilder();
    builder.add(unread(source, 'removed'), []);
    this.#segments.add(builder.finish());
    this.#segments.compact();
  }

  /** The best `limit` chunks, best first; equal scores are sorted by source and position. A string is treated as words only. */
  search(query: Query | string, limit: number): readonly Hit[] {
    const parsed = typeof query === 'string' ? plainQuery(query) : query;
    const terms = toTermQuery(parsed, this.#analyzer);
    for (let most = limit; ; most *= PHRASE_GROWTH) {
      const matches = this.#segments.topMatches(terms, most);
      const hits = matches.flatMap(({ source, ordinal, score }) => {
        const chunk = this.#chunks.get(source.path)?.[ordinal];
        return chunk !== undefined && holdsPhrases(chunk.text, parsed.phrases) ? [{ chunk, score }] : [];
      });
      if (hits.length >= limit || matches.length < most) return hits.slice(0, limit);
    }
  }
}

function unread(path: string, status: SourceStatus): Source {
  return { path, size: 0, mtimeMs: 0, hash: '', status };
}
