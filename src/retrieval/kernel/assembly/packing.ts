import { NUMBERS, WIDTHS } from './layout/memory.ts';
import { MOST_WIDTH } from './layout/postings.ts';
import { writeVarint } from './varint.ts';

const WIDTHS_BYTES = 4 * 36;

/** Packs the first `count` of the numbers at `NUMBERS` in the format of `postings/packing.ts`, and returns the end. */
export function pack(count: u32, to: usize): usize {
  const end = NUMBERS + 4 * count;
  const widest = countWidths(end);
  // Tries each width, from the widest down: all numbers in that many bits, followed by the exceptions.
  let exceptions: u32 = 0;
  let fewest: u32 = u32.MAX_VALUE;
  let width: u32 = 0;
  let chosen: u32 = 0;
  for (let tried = widest; ; tried--) {
    const exceptionBits = 8 * ((widest - tried + 6) / 7 + 1);
    const bits = count * tried + exceptions * exceptionBits;
    if (tried <= u32(MOST_WIDTH) && bits < fewest) {
      fewest = bits;
      width = tried;
      chosen = exceptions;
    }
    if (tried == 0) break;
    exceptions += load<u32>(4 * tried, WIDTHS);
  }
  store<u8>(to, width);
  store<u8>(to, chosen, 1);
  to = packBits(end, width, to + 2);
  return chosen == 0 ? to : writeExceptions(end, width, to);
}

/** Counts the numbers of each width, and returns the highest width. */
function countWidths(end: usize): u32 {
  memory.fill(WIDTHS, 0, WIDTHS_BYTES);
  // Its highest bit is that of the widest number.
  let all: u32 = 0;
  for (let at: usize = NUMBERS; at < end; at += 4) {
    const number = load<u32>(at);
    const place = 4 * widthOf(number);
    store<u32>(place, load<u32>(place, WIDTHS) + 1, WIDTHS);
    all |= number;
  }
  return widthOf(all);
}

function widthOf(number: u32): u32 {
  return 32 - clz(number);
}

function packBits(end: usize, width: u32, to: usize): usize {
  const mask = (u64(1) << u64(width)) - 1;
  let pending: u64 = 0;
  let bits: u32 = 0;
  for (let at: usize = NUMBERS; at < end; at += 4) {
    pending |= (u64(load<u32>(at)) & mask) << u64(bits);
    store<u64>(to, pending);
    bits += width;
    to += bits >> 3;
    pending >>= u64(bits & -8);
    bits &= 7;
  }
  return to + usize(bits != 0);
}

/** Writes the position and the higher bits of each exception. */
function writeExceptions(end: usize, width: u32, to: usize): usize {
  for (let at: usize = NUMBERS; at < end; at += 4) {
    const rest = load<u32>(at) >> width;
    if (rest == 0) continue;
    store<u8>(to, (at - NUMBERS) >> 2);
    to = writeVarint(to + 1, rest);
  }
  return to;
}
