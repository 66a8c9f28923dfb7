import { NUMBERS } from './layout/memory.ts';
import { pack } from './packing.ts';
import { LEAST_PACKED, MOST_PACKED } from './layout/postings.ts';
import { writeVarint } from './varint.ts';

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
