import { GrowableBuffer, type KernelMemory } from '../tokenizer/kernelMemory.ts';
import { ByteReader } from './bytes.ts';

// Terms are stored in groups with front coding: each term but the first of a group omits the prefix that it shares with the one before.
// A lookup is a binary search over the groups and a scan of half a group; a Map of strings would take ten times the memory.
const GROUP = 16;
// The maximum size of an entry without its term, and of what is read and written after it.
const ENTRY_BYTES = 24;

/** A term, and the offset of its postings. */
interface TermPlace {
  readonly term: string;
  readonly start: number;
}

/** The terms of a segment, sorted by their UTF-8 bytes, with the offsets of their postings. Immutable. */
export class Dictionary {
  readonly size: number;
  readonly bytes: Uint8Array;
  /** The offsets of each group in `bytes` and in the postings. */
  readonly groups: Uint32Array;
  readonly starts: Uint32Array;
  /** The first bytes of each group's first term, computed on first use. */
  #keys: Uint32Array | undefined;
  readonly #reader: ByteReader;

  constructor(size: number, bytes: Uint8Array, groups: Uint32Array, starts: Uint32Array) {
    this.size = size;
    this.bytes = bytes;
    this.groups = groups;
    this.starts = starts;
    this.#reader = new ByteReader(bytes);
  }

  /** The offset of a term's postings; -1 if the term does not exist. The term is given in UTF-8. */
  find(term: Uint8Array): number {
    const { bytes } = this;
    const reader = this.#reader;
    const group = this.groupOf(term);
    reader.at = this.groups[group] ?? 0;
    let start = this.starts[group] ?? 0;
    let equal = 0; // the length of the prefix that the wanted term shares with the term before, which sorts before it
    for (let left = Math.min(GROUP, this.size - group * GROUP); left > 0; left -= 1) {
      const shared = reader.varint();
      const size = reader.varint();
      // A term that shares less with that term sorts after the wanted one; one that shares more sorts before it.
      if (shared < equal) return -1;
      const end = reader.at + size;
      if (shared === equal) {
        for (let at = reader.at; at < end && bytes[at] === term[equal]; at += 1) equal += 1;
        if (equal === term.length && equal === shared + size) return start;
      }
      reader.at = end;
      start += reader.varint();
    }
    return -1;
  }

  /** The last group whose first term does not sort after `term`, or the first group. */
  groupOf(term: Uint8Array): number {
    const keys = (this.#keys ??= this.#makeKeys());
    const key = keyOf(term, 0, term.length);
    let [low, high] = [0, keys.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const difference = (keys[middle] ?? 0) - key;
      if ((difference === 0 ? this.#compareFirst(middle, term) : difference) <= 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The terms that begin with `prefix`, in order. */
  *withPrefix(prefix: string): Generator<TermPlace, void> {
    const prefixBytes = Buffer.from(prefix);
    const cursor = new DictionaryCursor(this);
    for (cursor.seek(prefixBytes); cursor.isValid && cursor.startsWith(prefixBytes); cursor.next()) {
      yield { term: cursor.term.toString('utf8', 0, cursor.size), start: cursor.start };
    }
  }

  #makeKeys(): Uint32Array {
    return this.groups.map((at) => {
      const reader = this.#reader;
      reader.at = at + 1; // after the shared prefix, which is empty
      const size = reader.varint();
      return keyOf(this.bytes, reader.at, size);
    });
  }

  #compareFirst(group: number, term: Uint8Array): number {
    const reader = this.#reader;
    reader.at = (this.groups[group] ?? 0) + 1;
    const size = reader.varint();
    return compareBytes(this.bytes, reader.at, size, term, term.length);
  }
}

/** The first four bytes of a term as a number that sorts as they do. */
function keyOf(bytes: Uint8Array, start: number, size: number): number {
  let key = 0;
  for (let at = 0; at < 4; at += 1) key = key * 256 + (at < size ? (bytes[start + at] ?? 0) : 0);
  return key;
}

/** Negative if the bytes from `start` on sort before the others, positive if after. */
function compareBytes(bytes: Uint8Array, start: number, size: number, other: Uint8Array, otherSize: number): number {
  const least = Math.min(size, otherSize);
  for (let at = 0; at < least; at += 1) {
    const difference = (bytes[start + at] ?? 0) - (other[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return size - otherSize;
}

/** Iterates over the terms of a dictionary in order, without creating strings. */
export class DictionaryCursor {
  /** The bytes of the term, valid until the next one is read, and their number. */
  term = Buffer.alloc(128);
  size = 0;
  /** The offsets of its postings. */
  start = 0;
  length = 0;
  /** False after the last term. */
  isValid = false;
  readonly #dictionary: Dictionary;
  readonly #reader: ByteReader;
  #index = -1;

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary;
    this.#reader = new ByteReader(dictionary.bytes);
  }

  /** Moves to the first term that does not sort before `term`. */
  seek(term: Uint8Array): void {
    this.#open(this.#dictionary.groupOf(term));
    while (this.isValid && this.compare(term) < 0) this.next();
  }

  /** Moves to the next term, or from the start to the first. */
  next(): void {
    const index = this.#index + 1;
    if (index % GROUP === 0) {
      this.#open(index / GROUP);
      return;
    }
    this.isValid = index < this.#dictionary.size;
    if (this.isValid) this.#read(index, this.start + this.length);
  }

  /** Negative if the term sorts before the other, positive if after. */
  compare(other: Uint8Array, size = other.length): number {
    return compareBytes(this.term, 0, this.size, other, size);
  }

  startsWith(prefix: Uint8Array): boolean {
    return this.size >= prefix.length && compareBytes(this.term, 0, prefix.length, prefix, prefix.length) === 0;
  }

  #open(group: number): void {
    const { groups, starts, size } = this.#dictionary;
    this.isValid = group * GROUP < size;
    if (!this.isValid) return;
    this.#reader.at = groups[group] ?? 0;
    this.#read(group * GROUP, starts[group] ?? 0);
  }

  #read(index: number, start: number): void {
    const reader = this.#reader;
    const shared = reader.varint();
    const size = shared + reader.varint();
    if (size > this.term.length) this.term = Buffer.concat([this.term], 2 * size);
    reader.read(this.term, shared, size);
    this.size = size;
    this.length = reader.varint();
    this.start = start;
    this.#index = index;
  }
}

/**
 * Builds a dictionary of terms that are added in order. An entry consists of the length of the prefix that its term shares with the
 * last one, the number of its other bytes, these bytes, and the size of its postings.
 */
export class DictionaryWriter {
  readonly #memory: KernelMemory;
  readonly #entries: GrowableBuffer;
  readonly #last: GrowableBuffer;
  readonly #groups: number[] = [];
  readonly #starts: number[] = [];
  #length = 0;
  #lastSize = 0;
  #size = 0;

  constructor(memory: KernelMemory) {
    this.#memory = memory;
    this.#entries = new GrowableBuffer(memory);
    this.#last = new GrowableBuffer(memory);
  }

  /** Adds the term of `size` bytes at an address of the memory, and the offset of its postings. Eight bytes must follow the term. */
  add(term: number, size: number, start: number, length: number): void {
    const [entries, last] = [this.#entries, this.#last];
    if (this.#size % GROUP === 0) {
      this.#groups.push(this.#length);
      this.#starts.push(start);
      this.#lastSize = 0;
    }
    entries.reserve(this.#length + size + ENTRY_BYTES, this.#length);
    last.reserve(size + ENTRY_BYTES, this.#lastSize);
    const to = entries.address + this.#length;
    const end = this.#memory.kernel.writeEntry(last.address, this.#lastSize, term, size, length, to);
    this.#length = end - entries.address;
    this.#lastSize = size;
    this.#size += 1;
  }

  /** Returns the dictionary of all terms and starts a new one. */
  finish(): Dictionary {
    const { address } = this.#entries;
    const bytes = Uint8Array.from(this.#memory.bytes.subarray(address, address + this.#length));
    const [groups, starts] = [Uint32Array.from(this.#groups), Uint32Array.from(this.#starts)];
    const dictionary = new Dictionary(this.#size, bytes, groups, starts);
    this.#entries.release();
    this.#groups.length = this.#starts.length = this.#length = this.#size = 0;
    return dictionary;
  }
}
