// RFC 8878, section 3.1.1: the magic number, then a descriptor for a frame of a single segment whose size follows in 32 bits.
const MAGIC_AND_DESCRIPTOR = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0]);
const HEADER_BYTES = MAGIC_AND_DESCRIPTOR.length + 4;
// A block begins with 24 bits, little-endian: whether it is the last, two bits for its type, which is 0 for bytes as they are, and its
// size.
const BLOCK_HEADER_BYTES = 3;
const MAX_BLOCK_BYTES = 128 * 1024;
// Those of the largest piece. A frame can have any number of empty ones.
const MAX_BLOCKS = 2;

/** The parts of a Zstandard frame with bytes as they are, for those that do not compress: a compressor would take many times as long. */
export function rawFrame(bytes: Buffer): readonly Buffer[] {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC_AND_DESCRIPTOR.copy(header);
  header.writeUInt32LE(bytes.length, MAGIC_AND_DESCRIPTOR.length);
  const parts: Buffer[] = [header];
  for (let start = 0; start === 0 || start < bytes.length; start += MAX_BLOCK_BYTES) {
    const content = bytes.subarray(start, start + MAX_BLOCK_BYTES);
    const isLast = start + content.length === bytes.length;
    const block = Buffer.alloc(BLOCK_HEADER_BYTES);
    block.writeUIntLE((content.length << 3) | Number(isLast), 0, BLOCK_HEADER_BYTES);
    parts.push(block, content);
  }
  return parts;
}

/** The bytes of such a frame: a part of it if it has a single block, otherwise in memory of their own. Undefined for any other frame. */
export function readRawFrame(frame: Buffer): Buffer | undefined {
  if (frame.length < HEADER_BYTES || !frame.subarray(0, MAGIC_AND_DESCRIPTOR.length).equals(MAGIC_AND_DESCRIPTOR)) {
    return undefined;
  }
  const size = frame.readUInt32LE(MAGIC_AND_DESCRIPTOR.length);
  const blocks: Buffer[] = [];
  let found = 0;
  for (let at = HEADER_BYTES, isLast = false; !isLast; ) {
    if (at + BLOCK_HEADER_BYTES > frame.length || blocks.length === MAX_BLOCKS) return undefined;
    const head = frame.readUIntLE(at, BLOCK_HEADER_BYTES);
    const bytes = head >>> 3;
    isLast = (head & 1) === 1;
    at += BLOCK_HEADER_BYTES;
    const isRaw = (head & 0b110) === 0 && bytes <= Math.min(size, MAX_BLOCK_BYTES);
    // A frame of other blocks, or one that does not end where the frame does, is for the decompressor.
    if (!isRaw || at + bytes > frame.length || (isLast && at + bytes !== frame.length)) return undefined;
    blocks.push(frame.subarray(at, at + bytes));
    at += bytes;
    found += bytes;
  }
  if (found !== size) return undefined;
  const [only] = blocks;
  return blocks.length === 1 ? only : Buffer.concat(blocks, size);
}
