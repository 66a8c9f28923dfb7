/** As many blocks every word has: most words are no longer, and what has one size is compared without a loop. */
export const LEAST_BLOCKS = 2;
/** How far beyond a word's end its blocks may reach. */
export const PADDING = 8;
const SHORT = 4 * LEAST_BLOCKS;
// The bytes of its first and second block that are a short word's, by its length, and those of a long one's last.
const FIRST = masks(0);
const SECOND = masks(4);
const LAST = Int32Array.of(-1, 0xff, 0xff_ff, 0xff_ff_ff);

/** A word as blocks of four bytes of UTF-8, filled up with zeros: so it is hashed and compared in few steps. */
export class WordKey {
  blocks = new Int32Array(64);
  blockCount = LEAST_BLOCKS;
  /** In bytes. */
  length = 0;
  hash = 0;

  /** Takes the bytes between two places, behind which PADDING more can be read. */
  read(view: DataView, start: number, end: number): void {
    const length = end - start;
    this.length = length;
    if (length > SHORT) {
      this.#readLong(view, start, length);
      return;
    }
    const first = view.getInt32(start, true) & (FIRST[length] ?? 0);
    const second = view.getInt32(start + 4, true) & (SECOND[length] ?? 0);
    this.blocks[0] = first;
    this.blocks[1] = second;
    this.blockCount = LEAST_BLOCKS;
    this.hash = mixed(mixed(0, first), second);
  }

  #readLong(view: DataView, start: number, length: number): void {
    const blocks = this.#open(length);
    const last = this.blockCount - 1;
    let hash = 0;
    for (let at = 0; at <= last; at += 1) {
      const block = view.getInt32(start + 4 * at, true) & (at < last ? -1 : (LAST[length & 3] ?? 0));
      blocks[at] = block;
      hash = mixed(hash, block);
    }
    this.hash = hash;
  }

  #open(length: number): Int32Array {
    this.length = length;
    this.blockCount = blocksOf(length);
    if (this.blockCount > this.blocks.length) this.blocks = new Int32Array(2 * this.blockCount);
    return this.blocks;
  }
}

/** How many blocks a word of so many bytes has. */
export function blocksOf(length: number): number {
  return Math.max(LEAST_BLOCKS, (length + 3) >> 2);
}

/** The hash of a word is that of its blocks one after the other, from 0 on. */
export function mixed(hash: number, block: number): number {
  const product = Math.imul(hash ^ block, 0x9e_37_79_b1 | 0);
  return product ^ (product >>> 15);
}

function masks(offset: number): Int32Array {
  return Int32Array.from({ length: SHORT + 1 }, (_, length) => {
    const bytes = Math.min(Math.max(length - offset, 0), 4);
    return bytes === 4 ? -1 : (1 << (8 * bytes)) - 1;
  });
}
