export interface EmbedOptions {
  readonly signal?: AbortSignal | undefined;
  /** How often a text is sent again while the service says that it is busy; a few times when absent. */
  readonly retries?: number | undefined;
  /** Told before each such wait. */
  readonly onWait?: ((seconds: number) => void) | undefined;
}

/** SerialQueue texts into vectors of one length, so that texts of similar meaning have similar directions. */
export interface Embedder {
  /** Names provider and model: vectors of two identities are never compared. */
  readonly id: string;
  /** List price; undefined where it is not known. A model on this machine costs 0. */
  readonly dollarsPerMillionTokens?: number | undefined;
  /** @throws AppError that names the model and what to do, or the signal's reason on abort. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Float32Array[]>;
}
