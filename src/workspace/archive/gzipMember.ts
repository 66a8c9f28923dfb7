/** RFC 1952: magic, deflate, no flags, no time, no extra flags, unknown system. Nothing here depends on the machine. */
export const GZIP_HEADER: Buffer = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

// RFC 1951: a last, empty block with fixed codes ends the stream.
const LAST_BLOCK = Buffer.from([0x03, 0x00]);

/** What ends a gzip member: the last block of its deflate stream, the CRC-32 of all that was packed, and its length. */
export function gzipEnd(crc: number, bytes: number): Buffer {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(bytes % 2 ** 32, 4);
  return Buffer.concat([LAST_BLOCK, trailer]);
}
