import { GrowableBuffer, KernelMemory } from './kernelMemory.ts';
import { MAX_WORD, TERM_PADDING } from '../kernel/assembly/layout/memory.ts';

/** Stems single words with the kernel that is used for indexing. */
export class Stemmer {
  readonly #memory = new KernelMemory();
  readonly #word = new GrowableBuffer(this.#memory);
  readonly #spans = new GrowableBuffer(this.#memory);

  constructor() {
    this.#word.reserve(TERM_PADDING + MAX_WORD + TERM_PADDING);
    this.#spans.reserve(8);
  }

  /** The Porter stem of a lower-case word; a word longer than 64 bytes in UTF-8 stays unchanged. */
  stem(word: string): string {
    if (Buffer.byteLength(word) > MAX_WORD) return word;
    const { bytes, numbers, kernel } = this.#memory;
    const start = this.#word.address + TERM_PADDING;
    const spans = this.#spans.address;
    numbers[spans / 4] = start;
    numbers[spans / 4 + 1] = start + bytes.write(word, start);
    kernel.stemTerms(spans, spans + 8);
    return bytes.toString('utf8', start, numbers[spans / 4 + 1]);
  }
}
