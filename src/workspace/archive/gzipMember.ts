/** RFC 1952: magic, deflate, no flags, no time, no extra flags, unknown system. Nothing here depends on the machine. */
export const GZIP_HEADER: Buffer = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

// RFC 1951: an empty final block with fixed codes ends the stream.
const LAST_BLOCK = Buffer.from([0x03, 0x00]);

/** The end of a gzip member: the final block of its deflate stream, then CRC-32 and length of the uncompressed data. */
export function gzipEnd(crc: number, bytes: number): Buffer {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(bytes % 2 ** 32, 4);
  return Buffer.concat([LAST_BLOCK, trailer]);
}
