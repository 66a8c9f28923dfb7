import { GrowableBuffer, KernelMemory } from './kernelMemory.ts';
import { MAX_WORD, TERM_PADDING } from '../kernel/assembly/layout/memory.ts';

/** Stems single words with the kernel that stems those of a folder. */
export class Stemmer {
  readonly #memory = new KernelMemory();
  readonly #word = new GrowableBuffer(this.#memory);
  readonly #borders = new GrowableBuffer(this.#memory);

  constructor() {
    this.#word.hold(TERM_PADDING + MAX_WORD + TERM_PADDING);
    this.#borders.hold(8);
  }

  /** The Porter stem of a word of lower case; of one with more than 64 bytes in UTF-8 the word itself. */
  stem(word: string): string {
    if (Buffer.byteLength(word) > MAX_WORD) return word;
    const { bytes, numbers, kernel } = this.#memory;
    const start = this.#word.address + TERM_PADDING;
    const borders = this.#borders.address;
    numbers[borders / 4] = start;
    numbers[borders / 4 + 1] = start + bytes.write(word, start);
    kernel.stemTerms(borders, borders + 8);
    return bytes.toString('utf8', start, numbers[borders / 4 + 1]);
  }
}
