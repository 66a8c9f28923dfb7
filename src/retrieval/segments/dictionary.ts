import { GrowableBuffer, type KernelMemory } from '../tokenizer/kernelMemory.ts';
import { ByteReader } from './bytes.ts';

// Terms are stored in groups, each term but the first of a group without what it shares with the one before. Finding one
// costs a binary search over the groups and half a group of reading; a Map of strings would take ten times the memory.
const GROUP = 16;
// What an entry has at most besides the bytes of its term, and what is read and written behind it.
const ENTRY_BYTES = 24;

/** A term, and where its postings begin. */
interface TermPlace {
  readonly term: string;
  readonly start: number;
}

/** The terms of a segment in the order of their bytes in UTF-8, each with the place of its postings. It never changes. */
export class Dictionary {
  readonly size: number;
  readonly bytes: Uint8Array;
  /** Where each group begins: in `bytes`, and in the postings. */
  readonly groups: Uint32Array;
  readonly starts: Uint32Array;
  /** The first bytes of the first term of each group, made when they are first needed. */
  #keys: Uint32Array | undefined;
  readonly #reader: ByteReader;

  constructor(size: number, bytes: Uint8Array, groups: Uint32Array, starts: Uint32Array) {
    this.size = size;
    this.bytes = bytes;
    this.groups = groups;
    this.starts = starts;
    this.#reader = new ByteReader(bytes);
  }

  /** Where the postings of a term begin, given in UTF-8; -1 where it is not there. */
  find(wanted: Uint8Array): number {
    const { bytes } = this;
    const reader = this.#reader;
    const group = this.groupOf(wanted);
    reader.at = this.groups[group] ?? 0;
    let start = this.starts[group] ?? 0;
    let equal = 0; // so many bytes at the beginning of what is wanted are those of the term before, which comes before it
    for (let left = Math.min(GROUP, this.size - group * GROUP); left > 0; left -= 1) {
      const shared = reader.varint();
      const size = reader.varint();
      // What shares less with that term comes behind what is wanted, and what shares more comes before it like that term.
      if (shared < equal) return -1;
      const end = reader.at + size;
      if (shared === equal) {
        for (let at = reader.at; at < end && bytes[at] === wanted[equal]; at += 1) equal += 1;
        if (equal === wanted.length && equal === shared + size) return start;
      }
      reader.at = end;
      start += reader.varint();
    }
    return -1;
  }

  /** The last group that begins with a term that is not behind `wanted`, or the first of all. */
  groupOf(wanted: Uint8Array): number {
    const keys = (this.#keys ??= this.#makeKeys());
    const key = keyOf(wanted, 0, wanted.length);
    let [low, high] = [0, keys.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const difference = (keys[middle] ?? 0) - key;
      if ((difference === 0 ? this.#compareFirst(middle, wanted) : difference) <= 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The terms that begin with `prefix`, in order. */
  *withPrefix(prefix: string): Generator<TermPlace, void> {
    const wanted = Buffer.from(prefix);
    const cursor = new DictionaryCursor(this);
    for (cursor.seek(wanted); cursor.isValid && cursor.startsWith(wanted); cursor.next()) {
      yield { term: cursor.term.toString('utf8', 0, cursor.size), start: cursor.start };
    }
  }

  #makeKeys(): Uint32Array {
    return this.groups.map((at) => {
      const reader = this.#reader;
      reader.at = at + 1; // behind what is shared, which is nothing
      const size = reader.varint();
      return keyOf(this.bytes, reader.at, size);
    });
  }

  #compareFirst(group: number, wanted: Uint8Array): number {
    const reader = this.#reader;
    reader.at = (this.groups[group] ?? 0) + 1;
    const size = reader.varint();
    return compareBytes(this.bytes, reader.at, size, wanted, wanted.length);
  }
}

/** The first four bytes of a term as a number, whose order is theirs. */
function keyOf(bytes: Uint8Array, start: number, size: number): number {
  let key = 0;
  for (let at = 0; at < 4; at += 1) key = key * 256 + (at < size ? (bytes[start + at] ?? 0) : 0);
  return key;
}

/** Below zero where the bytes from `start` on come before the others, above where they come behind. */
function compareBytes(bytes: Uint8Array, start: number, size: number, other: Uint8Array, otherSize: number): number {
  const least = Math.min(size, otherSize);
  for (let at = 0; at < least; at += 1) {
    const difference = (bytes[start + at] ?? 0) - (other[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return size - otherSize;
}

/** Goes through the terms of a dictionary in order, without making strings of them. */
export class DictionaryCursor {
  /** The bytes of the term, until the next one is read, and how many there are. */
  term = Buffer.alloc(128);
  size = 0;
  /** Where its postings lie. */
  start = 0;
  length = 0;
  /** False behind the last term. */
  isValid = false;
  readonly #dictionary: Dictionary;
  readonly #reader: ByteReader;
  #index = -1;

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary;
    this.#reader = new ByteReader(dictionary.bytes);
  }

  /** Goes to the first term that is not before `wanted`. */
  seek(wanted: Uint8Array): void {
    this.#open(this.#dictionary.groupOf(wanted));
    while (this.isValid && this.compare(wanted) < 0) this.next();
  }

  /** Goes to the next term, or from the beginning to the first. */
  next(): void {
    const index = this.#index + 1;
    if (index % GROUP === 0) {
      this.#open(index / GROUP);
      return;
    }
    this.isValid = index < this.#dictionary.size;
    if (this.isValid) this.#read(index, this.start + this.length);
  }

  /** Below zero where the term comes before the other, above where it comes behind. */
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
 * Takes terms in order and makes a dictionary of them. An entry is how many bytes its term shares with the last one, how many
 * others it has, these, and how many bytes its postings have.
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

  /** Adds the term of `size` bytes at an address of the memory, and the place of its postings. Behind it there must be eight bytes. */
  add(term: number, size: number, start: number, length: number): void {
    const [entries, last] = [this.#entries, this.#last];
    if (this.#size % GROUP === 0) {
      this.#groups.push(this.#length);
      this.#starts.push(start);
      this.#lastSize = 0;
    }
    entries.hold(this.#length + size + ENTRY_BYTES, this.#length);
    last.hold(size + ENTRY_BYTES, this.#lastSize);
    const to = entries.address + this.#length;
    const end = this.#memory.kernel.writeEntry(last.address, this.#lastSize, term, size, length, to);
    this.#length = end - entries.address;
    this.#lastSize = size;
    this.#size += 1;
  }

  /** The dictionary of all terms; it begins anew then. */
  finish(): Dictionary {
    const { address } = this.#entries;
    const bytes = Uint8Array.from(this.#memory.bytes.subarray(address, address + this.#length));
    const [groups, starts] = [Uint32Array.from(this.#groups), Uint32Array.from(this.#starts)];
    const dictionary = new Dictionary(this.#size, bytes, groups, starts);
    this.#groups.length = this.#starts.length = this.#length = this.#size = 0;
    return dictionary;
  }
}
