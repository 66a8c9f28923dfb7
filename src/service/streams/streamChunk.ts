import { constants, deflateRawSync } from 'node:zlib';

const MIN_WINDOW_BITS = 9;
const MAX_WINDOW_BITS = 15;
// The most bytes that compression can add, for pieces of up to 64 KB.
const MAX_DEFLATE_OVERHEAD = 128;

/**
 * Bytes of a response with the frame of a chunk around them (RFC 9112, section 7.1). They are framed once for all readers, because
 * Node's own framing of each write costs more than the write.
 */
export class StreamChunk {
  readonly framed: Buffer;
  /** Without the frame, for clients of HTTP/1.0; a part of `framed`. */
  readonly bytes: Buffer;

  /** @param payload not empty, since an empty chunk ends the response. */
  constructor(payload: string | Buffer) {
    const length = Buffer.byteLength(payload);
    const size = `${length.toString(16)}\r\n`;
    // A buffer of its own: a slice of Node's pool would keep 64 KB in memory for an event of a few bytes.
    this.framed = Buffer.allocUnsafeSlow(size.length + length + 2);
    this.framed.write(size);
    this.bytes = this.framed.subarray(size.length, size.length + length);
    if (typeof payload === 'string') this.bytes.write(payload);
    else payload.copy(this.bytes);
    this.framed.write('\r\n', size.length + length);
  }
}

/**
 * Compresses a chunk so that the result can be inserted in any deflate stream: it refers to nothing before itself and ends at a byte
 * boundary (a sync flush, RFC 1951), so that a reader can decode all of it at once. Windows are no larger than the bytes.
 */
export function deflatedChunk({ bytes }: StreamChunk): StreamChunk {
  const bits = Math.ceil(Math.log2(bytes.length + 1));
  const windowBits = Math.min(MAX_WINDOW_BITS, Math.max(MIN_WINDOW_BITS, bits));
  // By default the compressor allocates 16 KB, even for a page with one short event.
  const chunkSize = bytes.length + MAX_DEFLATE_OVERHEAD;
  const memLevel = windowBits - 7;
  return new StreamChunk(
    deflateRawSync(bytes, { windowBits, memLevel, chunkSize, finishFlush: constants.Z_SYNC_FLUSH }),
  );
}
