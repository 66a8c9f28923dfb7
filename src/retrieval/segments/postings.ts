import { boundingLength } from './bm25.ts';
import { MOST_PACKED, PADDING } from './packing.ts';
import { Room, type WordMemory } from '../words/wordMemory.ts';

/** Postings of a block: as many are decoded at once, and skipped at once when none of them can matter. */
export const BLOCK = MOST_PACKED;
// A posting takes at most a distance of up to five bytes and a frequency of up to three, or twice a width of 24 bits and an
// exception; a list its count and the bytes that are written too much.
const MOST_BYTES = 18;
const LIST_BYTES = 64;
const MOST_LENGTH = 0xffff;
/**
 * Writes posting lists. A list is its count, and where it has several blocks, for each its last document, its size in bytes,
 * its highest frequency and the length that bounds every score in it; then the blocks. A block is the distances between its
 * documents and then its frequencies, both less one and packed; where it is small, each distance doubled, plus one where the
 * frequency is 1, else followed by the frequency.
 */
export class PostingsWriter {
  length = 0;
  readonly #memory: WordMemory;
  readonly #lists: Room;
  readonly #blocks: Room;

  constructor(memory: WordMemory) {
    this.#memory = memory;
    this.#lists = new Room(memory);
    this.#blocks = new Room(memory);
  }

  /** Writes a list of postings whose documents and frequencies lie at two addresses of the memory. */
  add(documents: number, frequencies: number, count: number, lengths: Uint16Array): void {
    const lists = this.#lists;
    lists.hold(this.length + MOST_BYTES * count + LIST_BYTES, this.length);
    this.#varint(count);
    if (count <= BLOCK) {
      const end = this.#memory.program.block(documents, frequencies, count, -1, lists.address + this.length);
      this.length = end - lists.address;
    } else {
      this.#addBlocks(documents, frequencies, count, lengths);
    }
  }

  /** The bytes of all lists; it begins anew then. */
  finish(): Uint8Array {
    const { address } = this.#lists;
    const bytes = new Uint8Array(this.length + PADDING);
    bytes.set(this.#memory.bytes.subarray(address, address + this.length));
    this.length = 0;
    return bytes;
  }

  #addBlocks(documents: number, frequencies: number, count: number, lengths: Uint16Array): void {
    this.#blocks.hold(MOST_BYTES * count + LIST_BYTES, 0);
    const { bytes, halves, numbers, program } = this.#memory;
    let to = this.#blocks.address;
    let last = -1;
    for (let start = 0; start < count; start += BLOCK) {
      const size = Math.min(BLOCK, count - start);
      const block = { documents: documents + 4 * start, frequencies: frequencies + 2 * start };
      const end = program.block(block.documents, block.frequencies, size, last, to);
      const { highest, bounding } = boundsOf(
        numbers,
        block.documents / 4,
        halves,
        block.frequencies / 2,
        size,
        lengths,
      );
      const newLast = numbers[block.documents / 4 + size - 1] ?? 0;
      this.#varint(newLast - last);
      this.#varint(end - to);
      this.#varint(highest);
      this.#varint(bounding);
      last = newLast;
      to = end;
    }
    bytes.copyWithin(this.#lists.address + this.length, this.#blocks.address, to);
    this.length += to - this.#blocks.address;
  }

  #varint(value: number): void {
    const { bytes } = this.#memory;
    let at = this.#lists.address + this.length;
    let rest = value;
    for (; rest > 127; rest >>>= 7) bytes[at++] = (rest & 127) | 128;
    bytes[at++] = rest;
    this.length = at - this.#lists.address;
  }
}

interface Bounds {
  readonly highest: number;
  readonly bounding: number;
}

/**
 * The highest frequency of so many postings, and a length with which it scores no less than any of them does. Their documents
 * and frequencies begin at two places.
 */
export function boundsOf(
  documents: Uint32Array,
  firstDocument: number,
  frequencies: Uint16Array | Uint32Array,
  firstFrequency: number,
  count: number,
  lengths: Uint16Array,
): Bounds {
  let highest = 0;
  for (let at = 0; at < count; at += 1) highest = Math.max(highest, frequencies[firstFrequency + at] ?? 0);
  let bounding = MOST_LENGTH;
  for (let at = 0; at < count; at += 1) {
    const length = lengths[documents[firstDocument + at] ?? 0] ?? 0;
    const own = boundingLength(highest, frequencies[firstFrequency + at] ?? 0, length);
    if (own < bounding) bounding = own;
  }
  return { highest, bounding: Math.floor(bounding) };
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
