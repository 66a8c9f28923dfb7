import { HIGHEST_LEVEL, MOST_SKIPPED, RANGE } from './layout/postings.ts';

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
