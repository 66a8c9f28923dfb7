import type { KernelMemory } from '../../../../src/retrieval/tokenizer/kernelMemory.ts';
import type { TermInternTable } from '../../../../src/retrieval/tokenizer/termInternTable.ts';

/** The bytes of a word of a table. */
export function bytesOf({ bytes }: KernelMemory, table: TermInternTable, record: number): Buffer {
  const start = table.bytesAt(record);
  return Buffer.from(bytes.subarray(start, start + table.lengthOf(record)));
}
