import { LEAST_PACKED } from '../kernel/assembly/kernelLayout.ts';
import { unpack } from './packing.ts';
import { BLOCK } from './postings.ts';
import { makeLevels, type RangeBounds, readLevels } from './scoreLevels.ts';

/** The position after the last document. */
export const NO_DOCUMENT = 0xffff_ffff;
const EMPTY = new Uint8Array(0);

/** A forward iterator over a posting list. It decodes one block at a time; skipped blocks are not decoded. */
export class PostingList {
  count = 0;
  blockCount = 0;
  /** The last document of each block. */
  lasts = new Uint32Array(16);
  /** The documents of the decoded block, and their number. */
  readonly documents = new Uint32Array(BLOCK);
  size = 0;
  /** The number of the decoded block, and the position in it. */
  block = -1;
  at = 0;
  #bytes: Uint8Array = EMPTY;
  #view: DataView = new DataView(EMPTY.buffer);
  #place = 0;
  #starts = new Uint32Array(16);
  #levelsAt = 0;
  readonly #frequencies = new Uint32Array(BLOCK);
  /** The offset of the decoded block's frequencies, until they are decoded too. */
  #frequenciesAt = 0;

  /** Starts reading the list at `start` of a segment's postings. Iterators are reused, because creating one costs as much as reading most lists. */
  open(bytes: Uint8Array, start: number): void {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.#place = start;
    this.count = this.#varint();
    this.blockCount = Math.ceil(this.count / BLOCK);
    [this.block, this.at, this.size, this.#frequenciesAt] = [-1, 0, 0, 0];
    if (this.blockCount > this.lasts.length) this.#grow();
    if (this.blockCount > 1) this.#readHeader();
    else if (this.count > 0) this.#readOnlyBlock(); // a source without chunks has the words of its path, but no document
  }

  /** The frequency of the term in each document of the decoded block. */
  get frequencies(): Uint32Array {
    if (this.#frequenciesAt > 0) {
      const frequencies = this.#frequencies;
      unpack(this.#view, this.#frequenciesAt, frequencies, this.size);
      for (let at = 0; at < this.size; at += 1) frequencies[at] = (frequencies[at] ?? 0) + 1;
      this.#frequenciesAt = 0;
    }
    return this.#frequencies;
  }

  /** Moves to the first document that is not before `document`, and returns it, or NO_DOCUMENT. */
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

  /** Decodes the next block; false after the last. */
  nextBlock(): boolean {
    if (this.block + 1 >= this.blockCount) return false;
    this.#decode(this.block + 1);
    return true;
  }

  /** Returns the score upper bound of each range before the list is read. For a single block they are computed from the postings. */
  boundRanges(bounds: RangeBounds, lengths: Uint16Array): void {
    if (this.blockCount > 1) readLevels(this.#bytes, this.#levelsAt, this.lasts[this.blockCount - 1] ?? 0, bounds);
    else makeLevels(this, lengths, bounds);
  }

  #readHeader(): void {
    const levelsSize = this.#varint();
    let [last, start] = [-1, levelsSize];
    for (let block = 0; block < this.blockCount; block += 1) {
      last += this.#varint();
      this.lasts[block] = last;
      this.#starts[block] = start;
      start += this.#varint();
    }
    this.#levelsAt = this.#place;
    for (let block = 0; block < this.blockCount; block += 1) {
      this.#starts[block] = (this.#starts[block] ?? 0) + this.#place;
    }
  }

  #readOnlyBlock(): void {
    this.#starts[0] = this.#place;
    this.#decode(0);
    this.lasts[0] = this.documents[this.size - 1] ?? 0;
  }

  #decode(block: number): void {
    const size = block === this.blockCount - 1 ? this.count - block * BLOCK : BLOCK;
    const before = block === 0 ? -1 : (this.lasts[block - 1] ?? 0);
    [this.block, this.at, this.size] = [block, 0, size];
    const start = this.#starts[block] ?? 0;
    if (size < LEAST_PACKED) {
      this.#decodeSmall(start, before);
      return;
    }
    const { documents } = this;
    this.#frequenciesAt = unpack(this.#view, start, documents, size);
    let document = before;
    for (let index = 0; index < size; index += 1) {
      document += (documents[index] ?? 0) + 1;
      documents[index] = document;
    }
  }

  // Decoding of variable-length integers is inlined; a call for each costs a third more.
  #decodeSmall(start: number, before: number): void {
    const [bytes, documents, frequencies] = [this.#bytes, this.documents, this.#frequencies];
    let document = before;
    let at = start;
    for (let index = 0; index < this.size; index += 1) {
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
    this.#frequenciesAt = 0;
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#place++] ?? 0;
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  }

  #grow(): void {
    const size = 2 * this.blockCount;
    [this.lasts, this.#starts] = [new Uint32Array(size), new Uint32Array(size)];
  }
}
