/** RFC 1952: magic, deflate, no flags, no time, no extra flags, unknown system. Nothing here depends on the machine. */
export const GZIP_HEADER: Buffer = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

// RFC 1951: an empty final block with fixed codes ends the stream.
const LAST_BLOCK = Buffer.from([0x03, 0x00]);

// The polynomial of CRC-32 (RFC 1952, section 8), with the coefficient of the highest power in the lowest bit.
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;

// x^8: what a CRC is multiplied by for each byte that follows.
const ONE_BYTE = 0x00800000;

/** The end of a gzip member: the final block of its deflate stream, then CRC-32 and length of the uncompressed data. */
export function gzipEnd(crc: number, bytes: number): Buffer {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(bytes % 2 ** 32, 4);
  return Buffer.concat([LAST_BLOCK, trailer]);
}

/**
 * The CRC-32 of two texts one after the other, from the CRC-32 of each. A CRC is a remainder of polynomials over GF(2), so zero bytes after
 * a text multiply its CRC by a power of x.
 *
 * @param bytes the length of the second text.
 */
export function combineCrc(first: number, second: number, bytes: number): number {
  let factor = ONE;
  let power = ONE_BYTE;
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) factor = multiply(factor, power);
    power = multiply(power, power);
  }
  return (multiply(factor, first) ^ second) >>> 0;
}

function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = 31; bit >= 0; bit -= 1) {
    if (((a >>> bit) & 1) === 1) product ^= shifted;
    shifted = (shifted & 1) === 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1;
  }
  return product >>> 0;
}
