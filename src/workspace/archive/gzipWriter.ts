import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync, type ZlibOptions } from 'node:zlib';
import { combineCrc, GZIP_HEADER, gzipEnd } from './gzipMember.ts';
import { freeMemory } from '../../core/files/ownMemory.ts';
import { isZero } from '../files/holes.ts';

// Blocks are compressed separately, each with the preceding window as dictionary. Larger blocks need more memory, smaller ones compress worse.
const BLOCK_BYTES = 1 << 20;
// Stored blocks and the flush add less than 0.1 %. With room for that, zlib returns each block in one piece.
const MOST_COMPRESSED_BYTES = BLOCK_BYTES + BLOCK_BYTES / 64;
const WINDOW_BYTES = 32 * 1024;
// RFC 1951, section 3.2.4: a stored block has its length in 16 bits, twice, after a byte for its type.
const STORED_HEADER_BYTES = 5;
const MOST_STORED_BYTES = 0xffff;
const LEVEL = 6;

// Leaves some of libuv's four threads free for reading files. A read that waits for a block costs 30 ms.
const MOST_AT_ONCE = 3;
const SAMPLES = 16;
const SAMPLE_BYTES = 2048;
// Shared by all blocks. A buffer for each would be left to the garbage collector, which lets 64 MB accumulate.
const SAMPLE = Buffer.allocUnsafeSlow(SAMPLES * SAMPLE_BYTES);
// Smaller blocks are compressed in less time than their samples save.
const LEAST_SAMPLED_BYTES = 128 * 1024;

const deflateBlock = promisify<Buffer, ZlibOptions, Buffer<ArrayBuffer>>(deflateRaw);

/** Receives the compressed bytes in order. They are valid until the promise settles. */
export type CompressedSink = (bytes: Buffer) => Promise<void>;

/** A part of the stream that is compressed independently of what precedes it, so that its compressed bytes can be reused. */
export interface GzipSegment {
  readonly bytes: number;
  /** CRC-32, as that of the compressed bytes. */
  readonly crc: number;
  readonly packedBytes: number;
  readonly packedCrc: number;
}

/** A block of zeros after one of zeros, compressed once, because files with holes have thousands of them. */
interface ZeroBlock {
  readonly compressed: Promise<Buffer<ArrayBuffer>>;
  readonly crc: number;
}

interface Pending {
  readonly compressed: Promise<Buffer<ArrayBuffer>>;
  readonly segment: OpenSegment;
  /** What happens with the memory of the compressed bytes: it is freed, or they or it are used again. */
  readonly after: 'free' | 'keep' | 'reuse';
}

type OpenSegment = { -readonly [Field in keyof GzipSegment]: GzipSegment[Field] };

/**
 * Compresses a stream on several cores into one ordinary gzip member, with the same bytes on every machine.
 *
 * Blocks of 1 MiB are compressed in parallel on libuv's threads and written in order. Each ends at a byte boundary (a sync flush), so
 * they can be joined. Memory stays below a dozen blocks, however long the stream is.
 */
export class GzipWriter {
  readonly #sink: CompressedSink;
  readonly #spare: Buffer<ArrayBuffer>[] = [];
  /** Memory for stored blocks. */
  readonly #spareStored: Buffer<ArrayBuffer>[] = [];
  readonly #pending: Pending[] = [];
  readonly #segments: GzipSegment[] = [];
  readonly #atOnce = Math.min(MOST_AT_ONCE, Math.max(2, availableParallelism()));
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #filled = 0;
  #window: Buffer<ArrayBuffer> | undefined;
  #segment: OpenSegment | undefined;
  #hasBegun = false;
  #isWindowZero = false;
  #zeroBlock: ZeroBlock | undefined;

  constructor(sink: CompressedSink) {
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

  /** What is written from now on is a segment. @returns its sizes, which are complete after `end`. */
  async startSegment(): Promise<GzipSegment> {
    if (this.#filled > 0) await this.#startBlock();
    this.#window = undefined;
    this.#isWindowZero = false;
    this.#segment = newSegment();
    this.#segments.push(this.#segment);
    return this.#segment;
  }

  /**
   * Adds a segment that was compressed before. What is written afterwards needs a segment of its own.
   *
   * @param packed its compressed bytes; absent if they are stored elsewhere and must be inserted here to complete the stream.
   */
  async append(segment: GzipSegment, packed?: AsyncIterable<Buffer>): Promise<void> {
    if (this.#filled > 0) await this.#startBlock();
    while (this.#pending.length > 0) await this.#writeOldest();
    await this.#begin();
    if (packed !== undefined) for await (const bytes of packed) await this.#sink(bytes);
    this.#segments.push(segment);
  }

  /** Removes the last segment. @returns the length of the stream without it, to which what received it must be cut. */
  async removeSegment(): Promise<number> {
    this.#filled = 0;
    while (this.#pending.length > 0) await this.#writeOldest();
    this.#segments.pop();
    this.#segment = undefined;
    this.#window = undefined;
    this.#isWindowZero = false;
    if (!this.#hasBegun) return 0;
    return this.#segments.reduce((sum, { packedBytes }) => sum + packedBytes, GZIP_HEADER.length);
  }

  /** Writes the rest and the trailer. */
  async end(): Promise<void> {
    if (this.#filled > 0 || !this.#hasBegun) await this.#startBlock();
    while (this.#pending.length > 0) await this.#writeOldest();
    let crc = 0;
    let bytes = 0;
    for (const segment of this.#segments) {
      crc = combineCrc(crc, segment.crc, segment.bytes);
      bytes += segment.bytes;
    }
    await this.#sink(gzipEnd(crc, bytes));
  }

  async #begin(): Promise<void> {
    if (!this.#hasBegun) await this.#sink(GZIP_HEADER);
    this.#hasBegun = true;
  }

  async #startBlock(): Promise<void> {
    await this.#begin();
    if (this.#segment === undefined) this.#segments.push((this.#segment = newSegment()));
    const segment = this.#segment;
    const [memory, window] = [this.#block, this.#window];
    const block = memory.subarray(0, this.#filled);
    const isZeros = block.length === BLOCK_BYTES && isZero(block);
    segment.bytes += block.length;
    if (isZeros && this.#isWindowZero && this.#zeroBlock !== undefined) {
      segment.crc = combineCrc(segment.crc, this.#zeroBlock.crc, block.length);
      this.#pending.push({ compressed: this.#zeroBlock.compressed, segment, after: 'keep' });
      this.#filled = 0;
      if (this.#pending.length > this.#atOnce) await this.#writeOldest();
      return;
    }
    segment.crc = crc32(block, segment.crc);
    if (isIncompressible(block)) {
      const stored = storeBlock(block, this.#spareStored.pop() ?? Buffer.allocUnsafeSlow(MOST_COMPRESSED_BYTES));
      this.#pending.push({ compressed: Promise.resolve(stored), segment, after: 'reuse' });
      this.#spare.push(memory);
      if (window !== undefined) freeMemory(window);
    } else this.#deflate(block, { memory, window, segment, isZeros });
    this.#window = Buffer.from(block.subarray(-WINDOW_BYTES));
    this.#isWindowZero = isZeros;
    this.#filled = 0;
    if (this.#pending.length > this.#atOnce) await this.#writeOldest();
    this.#block = this.#spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  #deflate(
    block: Buffer<ArrayBuffer>,
    {
      memory,
      window,
      segment,
      isZeros,
    }: {
      readonly memory: Buffer<ArrayBuffer>;
      readonly window: Buffer<ArrayBuffer> | undefined;
      readonly segment: OpenSegment;
      readonly isZeros: boolean;
    },
  ): void {
    const compressed = deflateBlock(block, {
      level: LEVEL,
      memLevel: 8,
      dictionary: window,
      finishFlush: constants.Z_SYNC_FLUSH,
      chunkSize: MOST_COMPRESSED_BYTES,
    }).finally(() => {
      this.#spare.push(memory);
      if (window !== undefined) freeMemory(window);
    });
    compressed.catch(() => {}); // reported where it is awaited in order
    const isKept = isZeros && this.#isWindowZero;
    if (isKept) this.#zeroBlock = { compressed, crc: crc32(block) };
    this.#pending.push({ compressed, segment, after: isKept ? 'keep' : 'free' });
  }

  async #writeOldest(): Promise<void> {
    const oldest = this.#pending.shift();
    if (oldest === undefined) return;
    const compressed = await oldest.compressed;
    oldest.segment.packedBytes += compressed.length;
    oldest.segment.packedCrc = crc32(compressed, oldest.segment.packedCrc);
    await this.#sink(compressed);
    // One piece that zlib allocated for this block, or several joined pieces, which are in Node's pool if they are small.
    if (oldest.after === 'free') freeMemory(compressed, MOST_COMPRESSED_BYTES);
    if (oldest.after === 'reuse') this.#spareStored.push(Buffer.from(compressed.buffer));
  }
}

/** The bytes of a block as they are, in memory that is large enough. zlib would allocate what its own stored blocks need each time. */
function storeBlock(block: Buffer, memory: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  let end = 0;
  for (let start = 0; start < block.length; start += MOST_STORED_BYTES) {
    const length = Math.min(MOST_STORED_BYTES, block.length - start);
    memory[end] = 0;
    memory.writeUInt16LE(length, end + 1);
    memory.writeUInt16LE(length ^ 0xffff, end + 3);
    end += STORED_HEADER_BYTES;
    end += block.copy(memory, end, start, start + length);
  }
  return memory.subarray(0, end);
}

function newSegment(): OpenSegment {
  return { bytes: 0, crc: 0, packedBytes: 0, packedCrc: 0 };
}

/**
 * Whether a block is already compressed (pictures, archives, weights). Such blocks are stored, which is 20 times faster. Checks
 * samples from the whole block, so that a few text files among pictures are still found.
 */
function isIncompressible(block: Buffer): boolean {
  if (block.length < LEAST_SAMPLED_BYTES) return false;
  const step = Math.floor(block.length / SAMPLES);
  for (let i = 0; i < SAMPLES; i += 1) block.copy(SAMPLE, i * SAMPLE_BYTES, i * step, i * step + SAMPLE_BYTES);
  const chunkSize = 2 * SAMPLE.length;
  const compressed = deflateRawSync(SAMPLE, { level: 1, chunkSize });
  const { length } = compressed;
  freeMemory(compressed, chunkSize);
  return length > SAMPLE.length * 0.98;
}
