import { STEP_BYTES } from './kernelLayout.ts';

const LANE_BYTES = 16;
const POSITION_BYTES = 4;

/**
 * Writes the spans of the words in an ASCII text, that is the start and end of each, and returns the end of the spans. Overwrites
 * `STEP_BYTES` bytes after the text.
 */
export function findSpans(text: usize, textEnd: usize, spans: usize): usize {
  memory.fill(textEnd, 0, STEP_BYTES);
  let before: u64 = 0;
  do {
    const inWord =
      wordBits(text) |
      (wordBits(text + LANE_BYTES) << 16) |
      (wordBits(text + 2 * LANE_BYTES) << 32) |
      (wordBits(text + 3 * LANE_BYTES) << 48);
    // A bit for each byte at which a word starts or has just ended.
    let changes = inWord ^ ((inWord << 1) | before);
    before = inWord >> 63;
    let at = spans;
    spans += POSITION_BYTES * usize(popcnt(changes));
    // Four per step, of which excess ones are overwritten, because a check for each costs more than the write.
    do {
      store<u32>(at, text + usize(ctz(changes)));
      changes &= changes - 1;
      store<u32>(at, text + usize(ctz(changes)), POSITION_BYTES);
      changes &= changes - 1;
      store<u32>(at, text + usize(ctz(changes)), 2 * POSITION_BYTES);
      changes &= changes - 1;
      store<u32>(at, text + usize(ctz(changes)), 3 * POSITION_BYTES);
      changes &= changes - 1;
      at += 4 * POSITION_BYTES;
    } while (at < spans);
    text += STEP_BYTES;
  } while (text <= textEnd);
  return spans;
}

/** A bit for each of 16 bytes that is a letter, a digit, `_` or `$`. */
function wordBits(text: usize): u64 {
  const bytes = v128.load(text);
  // Two lookups, by the upper and by the lower four bits of a byte. A bit that is set in both represents one or two rows of the ASCII
  // table in which the character of that column is part of a word.
  const rows = i8x16.swizzle(i8x16(0, 0, 1, 2, 4, 8, 4, 16, 0, 0, 0, 0, 0, 0, 0, 0), i8x16.shr_u(bytes, 4));
  const columns = i8x16.swizzle(
    i8x16(26, 30, 30, 30, 31, 30, 30, 30, 30, 30, 28, 4, 4, 4, 4, 12),
    v128.and(bytes, i8x16.splat(15)),
  );
  return u64(u32(i8x16.bitmask(i8x16.ne(v128.and(rows, columns), i8x16.splat(0)))));
}
