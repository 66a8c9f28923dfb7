import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync, type ZlibOptions } from 'node:zlib';
import { GZIP_HEADER, gzipEnd } from './gzipMember.ts';
import { freeMemory } from './ownMemory.ts';

// Each block is compressed apart, with the window before it as dictionary, so a larger block costs memory and a smaller one ratio.
const BLOCK_BYTES = 1 << 20;
// Stored blocks and the flush add less than a thousandth; with room for it, zlib gives each block in one piece.
const MOST_COMPRESSED_BYTES = BLOCK_BYTES + BLOCK_BYTES / 64;
const WINDOW_BYTES = 32 * 1024;
const LEVEL = 6;

// Half of libuv's four threads at least stay free for reading files: a read that waits for a block costs 30 ms.
const MOST_AT_ONCE = 3;
const SAMPLES = 16;
const SAMPLE_BYTES = 2048;

const deflateBlock = promisify<Buffer, ZlibOptions, Buffer<ArrayBuffer>>(deflateRaw);

/** Where the compressed bytes go, in order. They are valid until the promise settles. */
export type ByteSink = (bytes: Buffer) => Promise<void>;

/**
 * Compresses a stream on several cores into one ordinary gzip member, with the same bytes on every machine.
 *
 * Blocks of 1 MiB are compressed side by side on libuv's threads and written in order; each ends at a byte boundary
 * (a sync flush), so the results can be joined. Memory stays below a dozen blocks however long the stream is.
 */
export class GzipWriter {
  readonly #sink: ByteSink;
  readonly #spare: Buffer<ArrayBuffer>[] = [];
  readonly #pending: Promise<Buffer<ArrayBuffer>>[] = [];
  readonly #atOnce = Math.min(MOST_AT_ONCE, Math.max(2, availableParallelism()));
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #filled = 0;
  #window: Buffer<ArrayBuffer> | undefined;
  #crc = 0;
  #bytes = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** Takes a copy of the bytes; waits while enough blocks are under way. */
  async write(bytes: Buffer): Promise<void> {
    let offset = 0;
    while (offset < bytes.length) {
      const copied = bytes.copy(this.#block, this.#filled, offset);
      offset += copied;
      this.#filled += copied;
      if (this.#filled === BLOCK_BYTES) await this.#startBlock();
    }
  }

  /** Writes what is left and the trailer. */
  async end(): Promise<void> {
    if (this.#filled > 0 || this.#bytes === 0) await this.#startBlock();
    while (this.#pending.length > 0) await this.#writeOldest();
    await this.#sink(gzipEnd(this.#crc, this.#bytes));
  }

  async #startBlock(): Promise<void> {
    if (this.#bytes === 0) await this.#sink(GZIP_HEADER);
    const memory = this.#block;
    const block = memory.subarray(0, this.#filled);
    this.#crc = crc32(block, this.#crc);
    this.#bytes += block.length;
    const compressed = deflateBlock(block, {
      level: isIncompressible(block) ? 0 : LEVEL,
      memLevel: 8,
      dictionary: this.#window,
      finishFlush: constants.Z_SYNC_FLUSH,
      chunkSize: MOST_COMPRESSED_BYTES,
    }).finally(() => this.#spare.push(memory));
    compressed.catch(() => {}); // reported by whoever awaits it in order
    this.#pending.push(compressed);
    this.#window = Buffer.from(block.subarray(-WINDOW_BYTES));
    this.#filled = 0;
    if (this.#pending.length > this.#atOnce) await this.#writeOldest();
    this.#block = this.#spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  async #writeOldest(): Promise<void> {
    const oldest = this.#pending.shift();
    if (oldest === undefined) return;
    const compressed = await oldest;
    await this.#sink(compressed);
    // Either the one piece that zlib allocated for this block, or several that were joined, in the pool where they are small.
    freeMemory(compressed, MOST_COMPRESSED_BYTES);
  }
}

/**
 * Whether a block is packed already (pictures, archives, weights): such blocks are stored, which is 20 times faster.
 * Looks at samples spread over the block, so that a few text files among pictures are still seen.
 */
function isIncompressible(block: Buffer): boolean {
  if (block.length < BLOCK_BYTES) return false;
  const step = BLOCK_BYTES / SAMPLES;
  const samples = Array.from({ length: SAMPLES }, (_, i) => block.subarray(i * step, i * step + SAMPLE_BYTES));
  const sample = Buffer.concat(samples);
  return deflateRawSync(sample, { level: 1 }).length > sample.length * 0.98;
}
