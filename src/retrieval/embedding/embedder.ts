export interface EmbedOptions {
  readonly signal?: AbortSignal | undefined;
  /** How often a text is sent again while the service says that it is busy; a few times by default. */
  readonly retries?: number | undefined;
  /** The longest time for one response to its last byte, in seconds; ten minutes by default. Local models have no limit. */
  readonly timeoutSeconds?: number | undefined;
  /** Called before each such wait. */
  readonly onWait?: ((seconds: number) => void) | undefined;
}

/** Converts texts into vectors of one length, so that texts of similar meaning have similar directions. */
export interface Embedder {
  /** Identifies provider and model. Vectors of different identities are never compared. */
  readonly id: string;
  /** List price; undefined if unknown, 0 for a local model. */
  readonly dollarsPerMillionTokens?: number | undefined;
  /** @throws AppError that names the model and what to do, or the signal's reason on abort. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Float32Array[]>;
}
