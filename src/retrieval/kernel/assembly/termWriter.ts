import {
  HIGHEST_LEVEL,
  LEAST_PACKED,
  MOST_PACKED,
  MOST_SKIPPED,
  MOST_WIDTH,
  NUMBERS,
  RANGE,
  WIDTHS,
} from './kernelLayout.ts';

const WIDTHS_BYTES = 4 * 36;

/**
 * Writes a list of postings in the format of `PostingsWriter`, and returns its end. If the list has several blocks, its levels are
 * between `levels` and `blocks`, where the blocks are written until their sizes are known. Writes up to eight bytes after the end.
 */
export function writePostings(
  documents: usize,
  frequencies: usize,
  count: u32,
  levels: usize,
  blocks: usize,
  to: usize,
): usize {
  to = writeVarint(to, count);
  if (count <= u32(MOST_PACKED)) return writeBlock(documents, frequencies, count, -1, to);
  to = writeVarint(to, blocks - levels);
  let before: u32 = -1;
  while (count > 0) {
    const size = min<u32>(count, MOST_PACKED);
    const start = blocks;
    blocks = writeBlock(documents, frequencies, size, before, blocks);
    const last = load<u32>(documents + 4 * (size - 1));
    to = writeVarint(to, last - before);
    to = writeVarint(to, blocks - start);
    before = last;
    documents += 4 * size;
    frequencies += 2 * size;
    count -= size;
  }
  memory.copy(to, levels, blocks - levels);
  return to + (blocks - levels);
}

/** Writes the postings of a block, the first document as the difference to `before`, and returns the end. */
function writeBlock(documents: usize, frequencies: usize, size: u32, before: u32, to: usize): usize {
  return size < u32(LEAST_PACKED)
    ? writeSmall(documents, frequencies, size, before, to)
    : writePacked(documents, frequencies, size, before, to);
}

function writeSmall(documents: usize, frequencies: usize, size: u32, before: u32, to: usize): usize {
  for (let item: u32 = 0; item < size; item++) {
    const document = load<u32>(documents + 4 * item);
    const frequency: u32 = load<u16>(frequencies + 2 * item);
    to = writeVarint(to, ((document - before) << 1) | u32(frequency == 1));
    if (frequency > 1) to = writeVarint(to, frequency);
    before = document;
  }
  return to;
}

function writePacked(documents: usize, frequencies: usize, size: u32, before: u32, to: usize): usize {
  for (let item: u32 = 0; item < size; item++) {
    const document = load<u32>(documents + 4 * item);
    store<u32>(4 * item, document - before - 1, NUMBERS);
    before = document;
  }
  to = pack(size, to);
  for (let item: u32 = 0; item < size; item++) {
    store<u32>(4 * item, u32(load<u16>(frequencies + 2 * item)) - 1, NUMBERS);
  }
  return pack(size, to);
}

/** Writes a number in LEB128 (seven bits per byte, lowest first), and returns the end. */
export function writeVarint(to: usize, number: u32): usize {
  while (number > 127) {
    store<u8>(to, number | 128);
    number >>>= 7;
    to++;
  }
  store<u8>(to, number);
  return to + 1;
}

/** Packs the first `count` of the numbers at `NUMBERS` in the format of `segments/packing.ts`, and returns the end. */
function pack(count: u32, to: usize): usize {
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

/**
 * Writes the levels of a list's ranges as `readLevels` reads them, and returns their end: one byte per range with a document of the
 * list, with its level and the number of ranges skipped before it, preceded by bytes without a level if that number does not fit. The
 * norm of a document is `base` plus `slope` times its number of words.
 */
export function writeLevels(
  documents: usize,
  frequencies: usize,
  count: u32,
  lengths: usize,
  to: usize,
  base: f64,
  slope: f64,
): usize {
  const end = documents + 4 * count;
  let before: u32 = -1;
  while (documents < end) {
    const range = load<u32>(documents) / RANGE;
    let least: f64 = 1;
    do {
      const norm = base + slope * f64(load<u16>(lengths + 2 * load<u32>(documents)));
      least = min(least, norm / (f64(load<u16>(frequencies)) + norm));
      documents += 4;
      frequencies += 2;
    } while (documents < end && load<u32>(documents) / RANGE == range);
    let skipped = range - before - 1;
    before = range;
    for (; skipped > u32(MOST_SKIPPED); skipped -= MOST_SKIPPED + 1) store<u8>(to++, MOST_SKIPPED);
    // The difference to 1 is rounded down, so that the level is rounded up.
    const level = HIGHEST_LEVEL - u32(least * HIGHEST_LEVEL);
    store<u8>(to++, (level << 4) | skipped);
  }
  return to;
}

/**
 * Writes an entry in the format of `DictionaryWriter`, and returns its end. The term then replaces the last one. Reads and writes up to
 * eight bytes after the end.
 */
export function writeEntry(last: usize, lastSize: u32, term: usize, size: u32, length: u32, to: usize): usize {
  const most = min(size, lastSize);
  let shared: u32 = 0;
  let difference = load<u64>(last) ^ load<u64>(term);
  while (shared < most && difference == 0) {
    shared += 8;
    difference = load<u64>(last + shared) ^ load<u64>(term + shared);
  }
  shared = min<u32>(shared + (u32(ctz(difference)) >> 3), most);
  to = writeVarint(to, shared);
  to = writeVarint(to, size - shared);
  for (let at = shared; at < size; at += 8) store<u64>(to + at - shared, load<u64>(term + at));
  to = writeVarint(to + size - shared, length);
  for (let at: u32 = 0; at < size; at += 8) store<u64>(last + at, load<u64>(term + at));
  return to;
}
