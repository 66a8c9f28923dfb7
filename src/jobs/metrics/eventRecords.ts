// TFRecord: a length (64 bits, little-endian), the masked CRC-32C of those 8 bytes, the data, and the masked CRC-32C of the data.
// https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details
const HEADER_BYTES = 12;
const CHECKSUM_BYTES = 4;
const MASK_DELTA = 0xa282ead8;
// Reflected polynomial of CRC-32C (RFC 3720, section 12.1).
const POLYNOMIAL = 0x82f63b78;
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
});

/**
 * Yields the records of a TensorBoard event file. Records over `maxBytes`, such as images, and those whose checksum is wrong are skipped. An
 * incomplete last record and all that follows a damaged length are ignored.
 */
export async function* readEventRecords(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void> {
  let bytes = Buffer.alloc(0);
  let toSkip = 0;
  for await (const chunk of chunks) {
    const skipped = Math.min(toSkip, chunk.length);
    toSkip -= skipped;
    bytes = Buffer.concat([bytes, chunk.subarray(skipped)]);
    let start = 0;
    while (bytes.length - start >= HEADER_BYTES) {
      const header = bytes.subarray(start, start + HEADER_BYTES);
      if (maskedChecksum(header.subarray(0, 8)) !== header.readUInt32LE(8)) return;
      const length = Number(header.readBigUInt64LE(0));
      const end = start + HEADER_BYTES + length + CHECKSUM_BYTES;
      if (length > maxBytes) {
        toSkip = Math.max(0, end - bytes.length);
        start = Math.min(end, bytes.length);
        continue;
      }
      if (bytes.length < end) break;
      const data = bytes.subarray(start + HEADER_BYTES, start + HEADER_BYTES + length);
      if (maskedChecksum(data) === bytes.readUInt32LE(end - CHECKSUM_BYTES)) yield data;
      start = end;
    }
    bytes = bytes.subarray(start);
  }
}

/** The CRC-32C, rotated and shifted as TFRecord stores it. */
export function maskedChecksum(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (TABLE[(crc ^ byte) & 0xff] ?? 0);
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}
