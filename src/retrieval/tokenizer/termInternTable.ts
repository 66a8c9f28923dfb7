import { GrowableBuffer, type KernelMemory } from './kernelMemory.ts';
import { BYTES, LENGTH, SIZE_AT } from '../kernel/assembly/kernelLayout.ts';

// 0 means no word, so no record starts there.
const FIRST_RECORD = 8;
const LEAST_SLOTS = 1 << 10;
// The number of words per call; there is space for all of them to be new.
const MOST_WORDS = 1 << 12;
// The maximum size of a record without its word.
const RECORD_BYTES = BYTES + 8;

/**
 * Interns words by their bytes, without creating strings. Most words of a text were seen before, and extracting and hashing each for a
 * Map takes three times as long as all the rest of indexing.
 */
export class TermInternTable {
  /** The record of the first word. Records are contiguous, in the order in which they were added, up to `end`. */
  readonly first = FIRST_RECORD;
  end = FIRST_RECORD;
  size = 0;
  readonly #memory: KernelMemory;
  readonly #records: GrowableBuffer;
  readonly #slots: GrowableBuffer;
  /** The number of bytes in use; after many words the table is larger. */
  #slotBytes = 4 * LEAST_SLOTS;

  constructor(memory: KernelMemory) {
    this.#memory = memory;
    this.#records = new GrowableBuffer(memory);
    this.#slots = new GrowableBuffer(memory);
  }

  /** The base address of the offsets that identify words. */
  get address(): number {
    return this.#records.address;
  }

  /**
   * Looks up words by their spans, adds the missing ones, and writes their records to an address. The first number of a new word is the
   * number of words before it.
   */
  find(spans: number, count: number, found: number): void {
    for (let from = 0; from < count; from += MOST_WORDS) {
      const to = Math.min(from + MOST_WORDS, count);
      this.#findSome(spans + 8 * from, to - from, found + 4 * from);
    }
  }

  /** One of a record's own numbers. */
  numberOf(record: number, which: number): number {
    return this.#memory.numbers[(this.address + record + which) >> 2] ?? 0;
  }

  setNumber(record: number, which: number, value: number): void {
    this.#memory.numbers[(this.address + record + which) >> 2] = value;
  }

  /** The length of a word in bytes. */
  lengthOf(record: number): number {
    return this.numberOf(record, LENGTH);
  }

  /** The address of a word's bytes. */
  bytesAt(record: number): number {
    return this.address + record + BYTES;
  }

  /** The end of a record. */
  behind(record: number): number {
    return record + BYTES + ((this.lengthOf(record) + 7) & -8);
  }

  clear(): void {
    this.#slots.clear(this.#slotBytes);
    this.#slotBytes = 4 * LEAST_SLOTS;
    this.end = FIRST_RECORD;
    this.size = 0;
  }

  /** Frees what is needed to find words. Until `clear`, the words can be read only. */
  releaseSlots(): void {
    this.#slots.release();
  }

  /** Frees all memory, which is allocated again for the next word. */
  release(): void {
    this.#records.release();
    this.#slots.release();
    this.clear();
  }

  #findSome(spans: number, count: number, found: number): void {
    const memory = this.#memory;
    const bytes = (memory.numbers[(spans >> 2) + 2 * count - 1] ?? 0) - (memory.numbers[spans >> 2] ?? 0);
    this.#records.reserve(this.end + count * RECORD_BYTES + bytes, this.end);
    this.#makeSlots(count);
    const records = this.#records;
    const slots = this.#slots;
    const end = memory.kernel.internWords(
      spans,
      spans + 8 * count,
      found,
      records.address,
      records.address + this.end,
      slots.address,
      this.#slotBytes / 4 - 1,
      this.size,
    );
    this.end = end - records.address;
    this.size = memory.numbers[SIZE_AT / 4] ?? 0;
  }

  /** At most half full, so that lookups of missing words end soon. */
  #makeSlots(more: number): void {
    const [records, slots] = [this.#records, this.#slots];
    slots.reserve(this.#slotBytes);
    let size = this.#slotBytes;
    while (size < 8 * (this.size + more)) size *= 4;
    if (size === this.#slotBytes) return;
    this.#slotBytes = size;
    if (size > slots.size) slots.reserve(size, 0);
    else slots.clear(size);
    this.#memory.kernel.fillSlots(
      records.address,
      records.address + FIRST_RECORD,
      records.address + this.end,
      slots.address,
      size / 4 - 1,
    );
  }
}
