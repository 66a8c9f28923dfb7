import { BYTES, KINDS, LENGTH } from './layout/memory.ts';

/** The end of a record, which is the start of the next. */
export function endOfRecord(record: usize): usize {
  return record + BYTES + ((load<u32>(record, LENGTH) + 7) & -8);
}

/** The classes of the byte at an address. */
export function kindsAt(address: usize): u32 {
  return load<u8>(load<u8>(address), KINDS);
}
