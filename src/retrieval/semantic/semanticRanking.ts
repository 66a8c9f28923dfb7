import type { NearChunk } from '../ranking/nearChunks.ts';

/** A chunk of a file. */
export type ChunkLocation = Omit<NearChunk, 'standardScore'>;

/** The state of semantic ranking. Unless it is `ready`, search uses keywords only. */
export type SemanticState =
  | { readonly type: 'off' }
  /** Some chunks have no vector yet; `reason` says why no work is in progress, if so. */
  | { readonly type: 'unfinished'; readonly done: number; readonly total: number; readonly reason?: string }
  | { readonly type: 'ready' }
  /** The query could not be embedded. */
  | { readonly type: 'failed'; readonly reason: string };

export interface NearestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Limits results to these files; undefined for all. */
  readonly accepts?: ((path: string) => boolean) | undefined;
}

/** Semantic ranking of a folder's chunks, in addition to keyword ranking. */
export interface SemanticRanking {
  readonly state: SemanticState;
  /** The `limit` chunks closest to the query, best first; none unless it is ready. Rejects only on abort. */
  nearest(query: string, limit: number, options?: NearestOptions): Promise<readonly NearChunk[]>;
}
