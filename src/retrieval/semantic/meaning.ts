/** A chunk of a file, as a ranking by meaning names it. */
export interface ChunkPlace {
  readonly path: string;
  /** The hash of the file's bytes that it was cut from. */
  readonly hash: string;
  /** Which of the file's chunks, from 0. */
  readonly ordinal: number;
}

/** What a ranking by meaning can do now, and why. Unless it is `ready`, search is by words alone. */
export type MeaningState =
  | { readonly type: 'off' }
  /** Chunks without a vector are left; `reason` where nobody is at work on them. */
  | { readonly type: 'unfinished'; readonly done: number; readonly total: number; readonly reason?: string }
  | { readonly type: 'ready' }
  /** The query could not be embedded. */
  | { readonly type: 'failed'; readonly reason: string };

export interface NearestOptions {
  readonly signal?: AbortSignal | undefined;
  /** The files that what is found may come from; all when absent. */
  readonly accepts?: ((path: string) => boolean) | undefined;
}

/** Ranks the chunks of a folder by meaning, beside the ranking by words. */
export interface MeaningRanking {
  readonly state: MeaningState;
  /** The `limit` chunks nearest to the query, best first; none unless it is ready. Never rejects but on abort. */
  nearest(query: string, limit: number, options?: NearestOptions): Promise<readonly ChunkPlace[]>;
}
