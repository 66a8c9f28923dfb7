import { ByteReader, ByteWriter } from './bytes.ts';

/** Postings of a block: as many are decoded at once, and skipped at once when none of them can matter. */
const BLOCK = 128;
// A distance of up to five bytes and a frequency of up to three.
const MOST_BYTES = 8;
/** Behind the last document. */
export const NO_DOCUMENT = 0xffff_ffff;

/** The documents that hold a term, ascending, and how often. */
export interface Postings {
  readonly documents: Uint32Array;
  readonly frequencies: Uint16Array;
}

/**
 * Writes posting lists. A list is its count, and where it has several blocks, for each its last document, its size in bytes,
 * its highest frequency and the shortest of its documents' lengths (which bound every score in it); then the blocks: the
 * distance to the document before, doubled, plus one where the frequency is 1, else followed by the frequency.
 */
export class PostingsWriter {
  readonly #lists = new ByteWriter();
  readonly #blocks = new ByteWriter();

  get length(): number {
    return this.#lists.length;
  }

  /** Writes the postings from `from` to before `to`. */
  add({ documents, frequencies }: Postings, from: number, to: number, lengths: Uint16Array): void {
    const lists = this.#lists;
    lists.varint(to - from);
    if (to - from <= BLOCK) {
      writeBlock(lists, documents, frequencies, from, to, -1);
      return;
    }
    const blocks = this.#blocks;
    blocks.clear();
    let last = -1;
    for (let start = from; start < to; start += BLOCK) {
      const end = Math.min(start + BLOCK, to);
      const before = blocks.length;
      writeBlock(blocks, documents, frequencies, start, end, last);
      let [highest, shortest] = [0, 0xffff];
      for (let at = start; at < end; at += 1) {
        highest = Math.max(highest, frequencies[at] ?? 0);
        shortest = Math.min(shortest, lengths[documents[at] ?? 0] ?? 0);
      }
      const newLast = documents[end - 1] ?? 0;
      lists.varint(newLast - last);
      lists.varint(blocks.length - before);
      lists.varint(highest);
      lists.varint(shortest);
      last = newLast;
    }
    lists.append(blocks.view());
  }

  finish(): Uint8Array {
    return this.#lists.view().slice();
  }
}

// Written where it goes: a call for each number would take as long as all the rest.
function writeBlock(
  writer: ByteWriter,
  documents: Uint32Array,
  frequencies: Uint16Array,
  from: number,
  to: number,
  before: number,
): void {
  const bytes = writer.reserve(MOST_BYTES * (to - from));
  let end = writer.length;
  let last = before;
  for (let at = from; at < to; at += 1) {
    const document = documents[at] ?? 0;
    const frequency = frequencies[at] ?? 0;
    let rest = (document - last) * 2 + (frequency === 1 ? 1 : 0);
    last = document;
    for (; rest > 127; rest >>>= 7) bytes[end++] = (rest & 127) | 128;
    bytes[end++] = rest;
    if (frequency === 1) continue;
    for (rest = frequency; rest > 127; rest >>>= 7) bytes[end++] = (rest & 127) | 128;
    bytes[end++] = rest;
  }
  writer.wrote(end);
}

/** How many postings the list has that begins at `start`. */
export function countPostings(bytes: Uint8Array, start: number): number {
  let count = 0;
  for (let at = start, shift = 0; ; at += 1, shift += 7) {
    const byte = bytes[at] ?? 0;
    count |= (byte & 127) << shift;
    if (byte < 128) return count >>> 0;
  }
}

/** A posting list that is read forwards, a block at a time; blocks that are passed over are not decoded. */
export class PostingList {
  readonly count: number;
  readonly blockCount: number;
  /** Of each block: its last document, highest frequency and shortest document. */
  readonly lasts: Uint32Array;
  readonly highest: Uint32Array;
  readonly shortest: Uint16Array;
  /** The decoded block, and how many postings it has. */
  readonly documents = new Uint32Array(BLOCK);
  readonly frequencies = new Uint32Array(BLOCK);
  size = 0;
  /** The number of the decoded block, and the place in it. */
  block = -1;
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #starts: Uint32Array;

  constructor(bytes: Uint8Array, start: number, lengths: Uint16Array) {
    this.#bytes = bytes;
    const reader = new ByteReader(bytes, start);
    this.count = reader.varint();
    this.blockCount = Math.ceil(this.count / BLOCK);
    this.lasts = new Uint32Array(this.blockCount);
    this.highest = new Uint32Array(this.blockCount);
    this.shortest = new Uint16Array(this.blockCount);
    this.#starts = new Uint32Array(this.blockCount);
    if (this.blockCount > 1) this.#readHeader(reader);
    else this.#readOnlyBlock(reader.at, lengths);
  }

  /** Goes to the first document that is `document` or behind it, and gives it, or NO_DOCUMENT. */
  advance(document: number): number {
    let block = Math.max(this.block, 0);
    while (block < this.blockCount && (this.lasts[block] ?? 0) < document) block += 1;
    if (block >= this.blockCount) return NO_DOCUMENT;
    if (block !== this.block) this.#decode(block);
    let at = this.at;
    while ((this.documents[at] ?? 0) < document) at += 1;
    this.at = at;
    return this.documents[at] ?? NO_DOCUMENT;
  }

  /** Decodes the next block; false behind the last. */
  nextBlock(): boolean {
    if (this.block + 1 >= this.blockCount) return false;
    this.#decode(this.block + 1);
    return true;
  }

  #readHeader(reader: ByteReader): void {
    let [last, start] = [-1, 0];
    for (let block = 0; block < this.blockCount; block += 1) {
      last += reader.varint();
      this.lasts[block] = last;
      this.#starts[block] = start;
      start += reader.varint();
      this.highest[block] = reader.varint();
      this.shortest[block] = reader.varint();
    }
    for (let block = 0; block < this.blockCount; block += 1) {
      this.#starts[block] = (this.#starts[block] ?? 0) + reader.at;
    }
  }

  #readOnlyBlock(start: number, lengths: Uint16Array): void {
    this.#starts[0] = start;
    this.#decode(0);
    let [highest, shortest] = [0, 0xffff];
    for (let at = 0; at < this.size; at += 1) {
      highest = Math.max(highest, this.frequencies[at] ?? 0);
      shortest = Math.min(shortest, lengths[this.documents[at] ?? 0] ?? 0);
    }
    this.lasts[0] = this.documents[this.size - 1] ?? 0;
    this.highest[0] = highest;
    this.shortest[0] = shortest;
  }

  // The innermost loop of every search: reading of the variable numbers is written out, a call for each costs a third more.
  #decode(block: number): void {
    const [bytes, documents, frequencies] = [this.#bytes, this.documents, this.frequencies];
    const size = block === this.blockCount - 1 ? this.count - block * BLOCK : BLOCK;
    let document = block === 0 ? -1 : (this.lasts[block - 1] ?? 0);
    let at = this.#starts[block] ?? 0;
    for (let index = 0; index < size; index += 1) {
      let byte = bytes[at++] ?? 0;
      let value = byte & 127;
      for (let shift = 7; byte > 127; shift += 7) {
        byte = bytes[at++] ?? 0;
        value |= (byte & 127) << shift;
      }
      document += value >>> 1;
      documents[index] = document;
      if ((value & 1) === 1) {
        frequencies[index] = 1;
        continue;
      }
      byte = bytes[at++] ?? 0;
      value = byte & 127;
      for (let shift = 7; byte > 127; shift += 7) {
        byte = bytes[at++] ?? 0;
        value |= (byte & 127) << shift;
      }
      frequencies[index] = value;
    }
    [this.block, this.at, this.size] = [block, 0, size];
  }
}
