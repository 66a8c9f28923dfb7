import { BYTES, COUNT, FIRST, KINDS, LENGTH, SECOND, SEED, SIZE_AT } from './kernelLayout.ts';

const FACTOR: u64 = 0x9e3779b97f4a7c15;

/**
 * Writes the record of each word, as an offset from `records`, and returns the end of the records. New words get new records there,
 * numbered from `size` on. There must be space and free slots for all of them to be new.
 */
export function internWords(
  spans: usize,
  spansEnd: usize,
  found: usize,
  records: usize,
  recordsEnd: usize,
  slots: usize,
  mask: u32,
  size: u32,
): usize {
  const seed = load<u64>(SEED);
  for (; spans < spansEnd; spans += 8) {
    const start = load<u32>(spans);
    const length = load<u32>(spans, 4) - start;
    const first = load<u64>(start) & firstBytes(length);
    let hash = mix(seed, first);
    for (let at: u32 = 8; at < length; at += 8) hash = mix(hash, blockAt(start, at, length));
    let slot = slotOf(hash) & mask;
    let record = load<u32>(slots + 4 * slot);
    while (record != 0 && !isWord(records + record, start, length, first)) {
      slot = (slot + 1) & mask;
      record = load<u32>(slots + 4 * slot);
    }
    if (record == 0) {
      record = recordsEnd - records;
      store<u32>(slots + 4 * slot, record);
      store<u32>(recordsEnd, length, LENGTH);
      store<u32>(recordsEnd, size, FIRST);
      store<u32>(recordsEnd, 0, SECOND);
      store<u32>(recordsEnd, 0, COUNT);
      store<u64>(recordsEnd, first, BYTES);
      for (let at: u32 = 8; at < length; at += 8) store<u64>(recordsEnd + at, blockAt(start, at, length), BYTES);
      recordsEnd = endOfRecord(recordsEnd);
      size++;
    }
    store<u32>(found, record);
    found += 4;
  }
  store<u32>(0, size, SIZE_AT);
  return recordsEnd;
}

/** Inserts all records from `record` on into empty slots. */
export function fillSlots(records: usize, record: usize, recordsEnd: usize, slots: usize, mask: u32): void {
  const seed = load<u64>(SEED);
  while (record < recordsEnd) {
    const end = endOfRecord(record);
    let hash = seed;
    for (let at = record + BYTES; at != end; at += 8) hash = mix(hash, load<u64>(at));
    let slot = slotOf(hash) & mask;
    while (load<u32>(slots + 4 * slot) != 0) slot = (slot + 1) & mask;
    store<u32>(slots + 4 * slot, record - records);
    record = end;
  }
}

function isWord(record: usize, start: usize, length: u32, first: u64): bool {
  if (!(i32(load<u64>(record, BYTES) == first) & i32(load<u32>(record, LENGTH) == length))) return false;
  for (let at: u32 = 8; at < length; at += 8) {
    if (load<u64>(record + at, BYTES) != blockAt(start, at, length)) return false;
  }
  return true;
}

/** Eight bytes of a word, padded with zeros. */
function blockAt(start: usize, at: u32, length: u32): u64 {
  return load<u64>(start + at) & firstBytes(length - at);
}

/** A mask for the first bytes of eight. */
function firstBytes(size: u32): u64 {
  return u64.MAX_VALUE >> u64(64 - 8 * min<u32>(size, 8));
}

function mix(hash: u64, block: u64): u64 {
  hash = (hash ^ block) * FACTOR;
  return hash ^ (hash >> 32);
}

function slotOf(hash: u64): u32 {
  return u32((hash * FACTOR) >> 32);
}

/** The end of a record, which is the start of the next. */
export function endOfRecord(record: usize): usize {
  return record + BYTES + ((load<u32>(record, LENGTH) + 7) & -8);
}

/** The classes of the byte at an address. */
export function kindsAt(address: usize): u32 {
  return load<u8>(load<u8>(address), KINDS);
}
