import { AppError } from '../../core/errors.ts';

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

// Small enough for one request to any service, large enough to keep a model busy.
const BATCH_TEXTS = 64;
// A service processes several requests at once; a local model takes them one after the other.
const PARALLEL_BATCHES = 4;

export interface KeyedText {
  readonly key: string;
  readonly text: string;
}

interface EmbedTextsOptions extends EmbedOptions {
  readonly onVectors: (vectors: readonly { readonly key: string; readonly vector: Float32Array }[]) => Promise<void>;
  /** Called for a text that the model rejects. If it throws, embedding stops. */
  readonly onRefused: (key: string, error: AppError) => void;
}

/**
 * Embeds texts in batches, several at once, and reports vectors as they arrive. A rejected batch is split in half and tried again, so
 * that one rejected text does not affect the others.
 *
 * @throws the signal's reason on abort, or the first failure that is not a rejection, once all batches in progress have settled.
 */
export async function embedTexts(
  texts: AsyncIterable<KeyedText>,
  embedder: Embedder,
  { onVectors, onRefused, ...options }: EmbedTextsOptions,
): Promise<void> {
  const failed = new AbortController();
  const signal = options.signal === undefined ? failed.signal : AbortSignal.any([failed.signal, options.signal]);
  const embed = async (batch: readonly KeyedText[]): Promise<void> => {
    try {
      const vectors = await embedder.embed(
        batch.map(({ text }) => text),
        { ...options, signal },
      );
      await onVectors(
        batch.flatMap(({ key }, at) => (vectors[at] === undefined ? [] : [{ key, vector: vectors[at] }])),
      );
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'bad-input') throw error;
      if (batch.length === 1) return batch.forEach(({ key }) => onRefused(key, error));
      const middle = batch.length >> 1;
      await embed(batch.slice(0, middle));
      await embed(batch.slice(middle));
    }
  };
  const batches = inBatches(texts);
  const work = async (): Promise<void> => {
    try {
      for (let next = await batches.next(); !next.done; next = await batches.next()) {
        signal.throwIfAborted();
        await embed(next.value);
      }
    } catch (error) {
      failed.abort(error); // the others stop
      throw error;
    }
  };
  await Promise.allSettled(Array.from({ length: PARALLEL_BATCHES }, work));
  options.signal?.throwIfAborted();
  failed.signal.throwIfAborted();
}

async function* inBatches(texts: AsyncIterable<KeyedText>): AsyncGenerator<readonly KeyedText[], undefined> {
  let batch: KeyedText[] = [];
  for await (const text of texts) {
    batch.push(text);
    if (batch.length < BATCH_TEXTS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
