import { HIGHEST_LEVEL, MOST_SKIPPED, RANGE } from './layout/postings.ts';

/**
 * Writes the levels of a list's ranges as `readLevels` reads them, and returns their end: for each range with a document of the list a
 * byte of its level and of how many ranges were skipped since the one before, and for as many as that cannot hold a byte without a
 * level. The norm of a document is `base` and `slope` for each of its words.
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
    // What is missing to the whole is rounded down, so the level is rounded up.
    const level = HIGHEST_LEVEL - u32(least * HIGHEST_LEVEL);
    store<u8>(to++, (level << 4) | skipped);
  }
  return to;
}
