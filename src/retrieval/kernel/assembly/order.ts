import { BYTES, LENGTH } from './kernelLayout.ts';
import { endOfRecord } from './intern.ts';
import { ENTRY_BYTES, RECORD } from './kernelLayout.ts';

/**
 * Sorts distinct words by their bytes with a bottom-up merge sort, and returns the address of the sorted entries: `entries` or `spare`,
 * which both have space for all of them.
 */
export function sortWords(record: usize, recordsEnd: usize, entries: usize, spare: usize): usize {
  let to = entries;
  for (; record < recordsEnd; record = endOfRecord(record)) {
    store<u64>(to, blockOf(record, 0));
    store<u32>(to, record, RECORD);
    to += ENTRY_BYTES;
  }
  const size = to - entries;
  for (let width: usize = ENTRY_BYTES; width < size; width *= 2) {
    for (let from: usize = 0; from < size; from += 2 * width) {
      const middle = min(from + width, size);
      merge(entries + from, entries + middle, entries + min(middle + width, size), spare + from);
    }
    const sorted = spare;
    spare = entries;
    entries = sorted;
  }
  return entries;
}

/** Merges the run before `right` with the run from `right` to `rightEnd`. */
function merge(left: usize, right: usize, rightEnd: usize, to: usize): void {
  const leftEnd = right;
  while (left < leftEnd && right < rightEnd) {
    let leftBlock = load<u64>(left);
    let rightBlock = load<u64>(right);
    if (leftBlock == rightBlock) {
      const leftRecord = load<u32>(left, RECORD);
      const rightRecord = load<u32>(right, RECORD);
      const size = max(load<u32>(leftRecord, LENGTH), load<u32>(rightRecord, LENGTH));
      for (let at: u32 = 8; leftBlock == rightBlock && at < size; at += 8) {
        leftBlock = blockOf(leftRecord, at);
        rightBlock = blockOf(rightRecord, at);
      }
    }
    // Without a branch, because the processor cannot predict which comes first.
    const isRight = rightBlock < leftBlock;
    v128.store(to, v128.load(select(right, left, isRight)));
    to += ENTRY_BYTES;
    left += ENTRY_BYTES * usize(!isRight);
    right += ENTRY_BYTES * usize(isRight);
  }
  memory.copy(to, left, leftEnd - left);
  memory.copy(to + (leftEnd - left), right, rightEnd - right);
}

/** Eight bytes of a word as a number that sorts as they do, padded with zeros, which sort before all other bytes. */
function blockOf(record: usize, at: u32): u64 {
  return select(bswap(load<u64>(record + at, BYTES)), 0, at < load<u32>(record, LENGTH));
}
