// Prose has about 4 characters in a token and code fewer; so many make the estimate rather too high than too low.
const CHARACTERS_PER_TOKEN = 3;

/** What embedding would take. */
export interface EmbeddingEstimate {
  /** Different texts that have no vector yet. */
  readonly texts: number;
  /** Chunks that have one already, or share the text of another. */
  readonly known: number;
  /** About. */
  readonly tokens: number;
  /** About, by list price; undefined where that is not known. */
  readonly dollars: number | undefined;
}

/** Estimates tokens and price of texts, by their characters together. */
export function estimateEmbedding(
  work: { readonly texts: number; readonly known: number; readonly characters: number },
  dollarsPerMillionTokens: number | undefined,
): EmbeddingEstimate {
  const tokens = Math.ceil(work.characters / CHARACTERS_PER_TOKEN);
  const dollars = dollarsPerMillionTokens === undefined ? undefined : (tokens * dollarsPerMillionTokens) / 1e6;
  return { texts: work.texts, known: work.known, tokens, dollars };
}
