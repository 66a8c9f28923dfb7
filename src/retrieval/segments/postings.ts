import { MOST_PACKED, MOST_SKIPPED, RANGE } from '../kernel/assembly/kernelLayout.ts';
import { PADDING } from './packing.ts';
import { LEVEL_BASE, LEVEL_SLOPE } from './scoreLevels.ts';
import { GrowableBuffer, type KernelMemory } from '../tokenizer/kernelMemory.ts';

/** The number of postings in a block, which is decoded or skipped as a unit. */
export const BLOCK = MOST_PACKED;
// A posting takes at most a distance of up to five bytes and a frequency of up to three, or twice a width of 24 bits and an
// exception; a list its count and the bytes that are written too much. Its level is a byte.
const MOST_BYTES = 19;
const LIST_BYTES = 64;

/**
 * Writes posting lists. A list is its count; where it has several blocks, the size of its levels in bytes, of each block the last
 * document and the size, and the levels of scores in all ranges of documents; then the blocks. A block is the distances between
 * its documents and then its frequencies, both less one and packed; where it is small, each distance doubled, plus one where the
 * frequency is 1, else followed by the frequency.
 */
export class PostingsWriter {
  length = 0;
  readonly #memory: KernelMemory;
  readonly #lists: GrowableBuffer;
  readonly #blocks: GrowableBuffer;

  constructor(memory: KernelMemory) {
    this.#memory = memory;
    this.#lists = new GrowableBuffer(memory);
    this.#blocks = new GrowableBuffer(memory);
  }

  /** Writes a list, given the addresses of its documents and frequencies and of the lengths of all documents. */
  add(documents: number, frequencies: number, count: number, lengths: number): void {
    const [lists, blocks] = [this.#lists, this.#blocks];
    const { kernel } = this.#memory;
    const most = MOST_BYTES * count + LIST_BYTES + this.#skippedBytes(documents, count);
    lists.reserve(this.length + most, this.length);
    const to = lists.address + this.length;
    let levelsEnd = 0;
    if (count > BLOCK) {
      blocks.reserve(most, 0);
      levelsEnd = kernel.writeLevels(documents, frequencies, count, lengths, blocks.address, LEVEL_BASE, LEVEL_SLOPE);
    }
    const end = kernel.writePostings(documents, frequencies, count, blocks.address, levelsEnd, to);
    this.length = end - lists.address;
  }

  /** The maximum number of bytes for skipped ranges without a document. */
  #skippedBytes(documents: number, count: number): number {
    const last = this.#memory.numbers[documents / 4 + count - 1] ?? 0;
    return Math.ceil(last / (RANGE * (MOST_SKIPPED + 1)));
  }

  /** Returns the bytes of all lists and starts anew. */
  finish(): Uint8Array {
    const { address } = this.#lists;
    const bytes = new Uint8Array(this.length + PADDING);
    bytes.set(this.#memory.bytes.subarray(address, address + this.length));
    this.length = 0;
    for (const buffer of [this.#lists, this.#blocks]) buffer.release();
    return bytes;
  }
}

/** The number of postings in the list that starts at `start`. */
export function countPostings(bytes: Uint8Array, start: number): number {
  let count = 0;
  for (let at = start, shift = 0; ; at += 1, shift += 7) {
    const byte = bytes[at] ?? 0;
    count |= (byte & 127) << shift;
    if (byte < 128) return count >>> 0;
  }
}
