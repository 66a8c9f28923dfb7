// A token has about 4 characters in prose and fewer in code; this value makes the estimate too high rather than too low.
const CHARACTERS_PER_TOKEN = 3;

/** The effort of embedding. */
export interface EmbeddingEstimate {
  /** Distinct texts without a vector. */
  readonly texts: number;
  /** Chunks that already have a vector, or have the same text as another. */
  readonly known: number;
  /** Approximate. */
  readonly tokens: number;
  /** Approximate, by list price; undefined if that is unknown. */
  readonly dollars: number | undefined;
}

/** Estimates tokens and price from the total number of characters. */
export function estimateEmbedding(
  work: { readonly texts: number; readonly known: number; readonly characters: number },
  dollarsPerMillionTokens: number | undefined,
): EmbeddingEstimate {
  const tokens = Math.ceil(work.characters / CHARACTERS_PER_TOKEN);
  const dollars = dollarsPerMillionTokens === undefined ? undefined : (tokens * dollarsPerMillionTokens) / 1e6;
  return { texts: work.texts, known: work.known, tokens, dollars };
}
