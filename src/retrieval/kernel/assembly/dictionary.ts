import { writeVarint } from './varint.ts';

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
