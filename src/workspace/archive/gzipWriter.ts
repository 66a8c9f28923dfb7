import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync, type ZlibOptions } from 'node:zlib';
import { GZIP_HEADER, gzipEnd } from './gzipMember.ts';
import { freeMemory } from './ownMemory.ts';

// Blocks are compressed separately, each with the preceding window as dictionary. Larger blocks need more memory, smaller ones compress worse.
const BLOCK_BYTES = 1 << 20;
// Stored blocks and the flush add less than 0.1 %. With room for that, zlib returns each block in one piece.
const MOST_COMPRESSED_BYTES = BLOCK_BYTES + BLOCK_BYTES / 64;
const WINDOW_BYTES = 32 * 1024;
const LEVEL = 6;

// Leaves some of libuv's four threads free for reading files. A read that waits for a block costs 30 ms.
const MOST_AT_ONCE = 3;
const SAMPLES = 16;
const SAMPLE_BYTES = 2048;

const deflateBlock = promisify<Buffer, ZlibOptions, Buffer<ArrayBuffer>>(deflateRaw);

/** Receives the compressed bytes in order. They are valid until the promise settles. */
export type ByteSink = (bytes: Buffer) => Promise<void>;

/**
 * Compresses a stream on several cores into one ordinary gzip member, with the same bytes on every machine.
 *
 * Blocks of 1 MiB are compressed in parallel on libuv's threads and written in order. Each ends at a byte boundary (a sync flush), so
 * they can be joined. Memory stays below a dozen blocks, however long the stream is.
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

  /** Copies the bytes. Waits while enough blocks are being compressed. */
  async write(bytes: Buffer): Promise<void> {
    let offset = 0;
    while (offset < bytes.length) {
      const copied = bytes.copy(this.#block, this.#filled, offset);
      offset += copied;
      this.#filled += copied;
      if (this.#filled === BLOCK_BYTES) await this.#startBlock();
    }
  }

  /** Writes the rest and the trailer. */
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
    compressed.catch(() => {}); // reported where it is awaited in order
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
    // One piece that zlib allocated for this block, or several joined pieces, which are in Node's pool if they are small.
    freeMemory(compressed, MOST_COMPRESSED_BYTES);
  }
}

/**
 * Whether a block is already compressed (pictures, archives, weights). Such blocks are stored, which is 20 times faster. Checks
 * samples from the whole block, so that a few text files among pictures are still found.
 */
function isIncompressible(block: Buffer): boolean {
  if (block.length < BLOCK_BYTES) return false;
  const step = BLOCK_BYTES / SAMPLES;
  const samples = Array.from({ length: SAMPLES }, (_, i) => block.subarray(i * step, i * step + SAMPLE_BYTES));
  const sample = Buffer.concat(samples);
  return deflateRawSync(sample, { level: 1 }).length > sample.length * 0.98;
}
