import { blocksOf, LEAST_BLOCKS, mixed, type WordKey } from './wordKey.ts';

// All that is known of a word lies together, most often in one line of the processor's cache: its length, three numbers for
// whoever asks, and its blocks.
/** The numbers of a record that are the caller's: 0 until they are set. */
export const FIRST = 1;
export const SECOND = 2;
/** Counts the word in a document. */
export const COUNT = 3;
const BLOCKS = 4;
// No record begins there: it stands for no word.
const NONE = 0;

/**
 * Finds words by their bytes, without making strings of them: a text is full of words that were seen before, and cutting each
 * out and hashing it for a Map takes three times as long as all the rest of indexing.
 */
export class WordTable {
  /** The records, one behind the other; a word is known by the place of its own. */
  records = new Int32Array(1 << 12);
  size = 0;
  #end = NONE + 1;
  #slots = new Int32Array(1 << 10);

  /** Whether a record is that of a word. */
  isAt(record: number, { blocks, blockCount, length }: WordKey): boolean {
    const { records } = this;
    if (records[record + BLOCKS] !== blocks[0] || records[record + BLOCKS + 1] !== blocks[1]) return false;
    if (records[record] !== length) return false;
    let at = LEAST_BLOCKS;
    while (at < blockCount && records[record + BLOCKS + at] === blocks[at]) at += 1;
    return at >= blockCount;
  }

  /** The record of a word, or 0. */
  find(key: WordKey): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = key.hash & mask; ; slot = (slot + 1) & mask) {
      const record = slots[slot] ?? NONE;
      if (record === NONE || this.isAt(record, key)) return record;
    }
  }

  /** Adds a word that is not there, and gives its record. */
  add({ blocks, blockCount, length, hash }: WordKey): number {
    const record = this.#end;
    this.#end += BLOCKS + blockCount;
    this.size += 1;
    this.#makeRoom();
    const { records } = this;
    records[record] = length;
    for (let at = 0; at < blockCount; at += 1) records[record + BLOCKS + at] = blocks[at] ?? 0;
    this.#insert(record, hash);
    return record;
  }

  /** One of a record's own numbers. */
  numberOf(record: number, which: number): number {
    return this.records[record + which] ?? 0;
  }

  setNumber(record: number, which: number, value: number): void {
    this.records[record + which] = value;
  }

  /** The length of a word in bytes. */
  lengthOf(record: number): number {
    return this.records[record] ?? 0;
  }

  /** Four bytes of a word as a number that is in their order; zeros behind its end. */
  blockOf(record: number, index: number): number {
    if (index >= blocksOf(this.lengthOf(record))) return 0;
    const block = this.records[record + BLOCKS + index] ?? 0;
    const swapped = ((block & 0xff) << 24) | ((block & 0xff_00) << 8) | ((block >>> 8) & 0xff_00) | (block >>> 24);
    return swapped >>> 0;
  }

  /** Writes the bytes of a word, and gives how many they are. */
  writeTo(bytes: Uint8Array, record: number): number {
    const length = this.lengthOf(record);
    for (let at = 0; at < length; at += 1) {
      bytes[at] = (this.records[record + BLOCKS + (at >> 2)] ?? 0) >>> (8 * (at & 3));
    }
    return length;
  }

  /** The record behind another, from 0 on; 0 behind the last. They come in the order in which they were added. */
  recordAfter(record: number): number {
    const next = record === NONE ? NONE + 1 : record + BLOCKS + blocksOf(this.lengthOf(record));
    return next === this.#end ? NONE : next;
  }

  #hashOf(record: number): number {
    const end = record + BLOCKS + blocksOf(this.lengthOf(record));
    let hash = 0;
    for (let at = record + BLOCKS; at < end; at += 1) hash = mixed(hash, this.records[at] ?? 0);
    return hash;
  }

  #insert(record: number, hash: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] !== NONE) slot = (slot + 1) & mask;
    slots[slot] = record;
  }

  #makeRoom(): void {
    if (this.#end > this.records.length) {
      const larger = new Int32Array(2 * this.#end);
      larger.set(this.records);
      this.records = larger;
    }
    // Half full at most, so that what is not there is found out soon.
    if (this.size * 2 <= this.#slots.length) return;
    const before = this.#slots;
    this.#slots = new Int32Array(before.length * 4);
    for (const record of before) if (record !== NONE) this.#insert(record, this.#hashOf(record));
  }
}
