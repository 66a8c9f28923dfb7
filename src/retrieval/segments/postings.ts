import { boundingLength } from './bm25.ts';
import { ByteWriter } from './bytes.ts';
import { MOST_PACKED, Packer, PADDING } from './packing.ts';

/** Postings of a block: as many are decoded at once, and skipped at once when none of them can matter. */
export const BLOCK = MOST_PACKED;
// Fewer are shorter as single numbers.
export const LEAST_PACKED = 24;
// A distance of up to five bytes and a frequency of up to three.
const MOST_BYTES = 8;
const MOST_LENGTH = 0xffff;
/** The documents that hold a term, ascending, and how often. */
export interface Postings {
  readonly documents: Uint32Array;
  readonly frequencies: Uint16Array;
}

/**
 * Writes posting lists. A list is its count, and where it has several blocks, for each its last document, its size in bytes,
 * its highest frequency and the length that bounds every score in it; then the blocks. A block is the distances between its
 * documents and then its frequencies, both less one and packed; where it is small, each distance doubled, plus one where the
 * frequency is 1, else followed by the frequency.
 */
export class PostingsWriter {
  readonly #lists = new ByteWriter();
  readonly #blocks = new ByteWriter();
  readonly #packer = new Packer();
  readonly #numbers = new Uint32Array(BLOCK);

  get length(): number {
    return this.#lists.length;
  }

  /** Writes the postings from `from` to before `to`. */
  add(postings: Postings, from: number, to: number, lengths: Uint16Array): void {
    const lists = this.#lists;
    lists.varint(to - from);
    if (to - from <= BLOCK) {
      this.#writeBlock(lists, postings, from, to, -1);
      return;
    }
    const blocks = this.#blocks;
    blocks.clear();
    let last = -1;
    for (let start = from; start < to; start += BLOCK) {
      const end = Math.min(start + BLOCK, to);
      const before = blocks.length;
      this.#writeBlock(blocks, postings, start, end, last);
      const { highest, bounding } = boundsOf(postings, start, end, lengths);
      const newLast = postings.documents[end - 1] ?? 0;
      lists.varint(newLast - last);
      lists.varint(blocks.length - before);
      lists.varint(highest);
      lists.varint(bounding);
      last = newLast;
    }
    lists.append(blocks.view());
  }

  finish(): Uint8Array {
    const { length } = this.#lists;
    const bytes = new Uint8Array(length + PADDING);
    bytes.set(this.#lists.view());
    return bytes;
  }

  #writeBlock(writer: ByteWriter, postings: Postings, from: number, to: number, before: number): void {
    if (to - from < LEAST_PACKED) {
      writeSmallBlock(writer, postings, from, to, before);
      return;
    }
    const { documents, frequencies } = postings;
    const numbers = this.#numbers;
    let last = before;
    for (let at = from; at < to; at += 1) {
      const document = documents[at] ?? 0;
      numbers[at - from] = document - last - 1;
      last = document;
    }
    this.#packer.pack(writer, numbers, to - from);
    for (let at = from; at < to; at += 1) numbers[at - from] = (frequencies[at] ?? 0) - 1;
    this.#packer.pack(writer, numbers, to - from);
  }
}

interface Bounds {
  readonly highest: number;
  readonly bounding: number;
}

/** The highest frequency of some postings, and a length with which it scores no less than any of them does. */
export function boundsOf(
  { documents, frequencies }: { readonly documents: Uint32Array; readonly frequencies: Uint16Array | Uint32Array },
  from: number,
  to: number,
  lengths: Uint16Array,
): Bounds {
  let highest = 0;
  for (let at = from; at < to; at += 1) {
    const frequency = frequencies[at] ?? 0;
    if (frequency > highest) highest = frequency;
  }
  let bounding = MOST_LENGTH;
  for (let at = from; at < to; at += 1) {
    const own = boundingLength(highest, frequencies[at] ?? 0, lengths[documents[at] ?? 0] ?? 0);
    if (own < bounding) bounding = own;
  }
  return { highest, bounding: Math.floor(bounding) };
}

// Written where it goes: a call for each number would take as long as all the rest.
function writeSmallBlock(
  writer: ByteWriter,
  { documents, frequencies }: Postings,
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
