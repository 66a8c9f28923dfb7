import { hash } from 'node:crypto';
import type { Embedder, EmbedOptions } from '../../../../src/retrieval/semantic/embedTexts.ts';

// Words of one meaning share their numbers.
const MEANINGS: Readonly<Record<string, string>> = { boat: 'ship', vessel: 'ship', loaf: 'bread', baguette: 'bread' };

/** A small deterministic model: words are counted by their meaning, and one that is not known at a place by its hash. */
export class WordEmbedder implements Embedder {
  readonly id: string;
  readonly dollarsPerMillionTokens: number | undefined;
  readonly embedded: string[] = [];
  readonly #dimensions: number;
  /** Called before each batch. */
  before: (texts: readonly string[], options: EmbedOptions) => void | Promise<void> = () => {};

  constructor(id = 'words', { dimensions = 64, dollars }: { dimensions?: number; dollars?: number } = {}) {
    this.id = id;
    this.#dimensions = dimensions;
    this.dollarsPerMillionTokens = dollars;
  }

  async embed(texts: readonly string[], options: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    options.signal?.throwIfAborted();
    await this.before(texts, options);
    this.embedded.push(...texts);
    return texts.map((text) => this.vectorOf(text));
  }

  vectorOf(text: string): Float32Array {
    const vector = new Float32Array(this.#dimensions);
    for (const word of text.toLowerCase().match(/\w+/g) ?? []) {
      const place = Number.parseInt(hash('sha256', MEANINGS[word] ?? word, 'hex').slice(0, 8), 16) % this.#dimensions;
      vector[place] = (vector[place] ?? 0) + 1;
    }
    return vector;
  }
}
