import { GrowableBuffer, type KernelMemory } from './kernelMemory.ts';
import { BYTES, LENGTH, SIZE_AT } from '../kernel/assembly/layout/memory.ts';

// No record begins at 0, which stands for no word.
const FIRST_RECORD = 8;
const LEAST_SLOTS = 1 << 10;
// Looked for together: there is room for all of them to be new.
const MOST_WORDS = 1 << 12;
// What a record has at most besides the bytes of its word.
const RECORD_BYTES = BYTES + 8;

/**
 * Finds words by their bytes, without making strings of them: a text is full of words that were seen before, and cutting each
 * out and hashing it for a Map takes three times as long as all the rest of indexing.
 */
export class TermInternTable {
  /** The record of the first word. Records come in the order in which they were added, each behind the one before, up to `end`. */
  readonly first = FIRST_RECORD;
  end = FIRST_RECORD;
  size = 0;
  readonly #memory: KernelMemory;
  readonly #records: GrowableBuffer;
  readonly #slots: GrowableBuffer;
  /** How many bytes of it are in use: where there were many words before, it is larger. */
  #slotBytes = 4 * LEAST_SLOTS;

  constructor(memory: KernelMemory) {
    this.#memory = memory;
    this.#records = new GrowableBuffer(memory);
    this.#slots = new GrowableBuffer(memory);
    this.#slots.hold(this.#slotBytes);
  }

  /** The address from which the distances count that a word is known by. */
  get address(): number {
    return this.#records.address;
  }

  /**
   * Finds words by the addresses where they begin and end, adds those that are not there, and writes their records to an address. A
   * new word's first number is how many there were before.
   */
  find(borders: number, count: number, found: number): void {
    for (let from = 0; from < count; from += MOST_WORDS) {
      const to = Math.min(from + MOST_WORDS, count);
      this.#findSome(borders + 8 * from, to - from, found + 4 * from);
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

  /** Where the bytes of a word lie in memory. */
  bytesAt(record: number): number {
    return this.address + record + BYTES;
  }

  /** Where a record ends. */
  behind(record: number): number {
    return record + BYTES + ((this.lengthOf(record) + 7) & -8);
  }

  clear(): void {
    this.#slots.clear(this.#slotBytes);
    this.#slotBytes = 4 * LEAST_SLOTS;
    this.end = FIRST_RECORD;
    this.size = 0;
  }

  #findSome(borders: number, count: number, found: number): void {
    const memory = this.#memory;
    const bytes = (memory.numbers[(borders >> 2) + 2 * count - 1] ?? 0) - (memory.numbers[borders >> 2] ?? 0);
    this.#records.hold(this.end + count * RECORD_BYTES + bytes, this.end);
    this.#makeSlots(count);
    const records = this.#records;
    const slots = this.#slots;
    const end = memory.kernel.internWords(
      borders,
      borders + 8 * count,
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

  /** Half full at most, so that what is not there is found out soon. */
  #makeSlots(more: number): void {
    const [records, slots] = [this.#records, this.#slots];
    let size = this.#slotBytes;
    while (size < 8 * (this.size + more)) size *= 4;
    if (size === this.#slotBytes) return;
    this.#slotBytes = size;
    if (size > slots.size) slots.hold(size, 0);
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
