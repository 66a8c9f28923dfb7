import type { WordMemory } from '../../../../src/retrieval/tokenizer/wordMemory.ts';
import type { WordTable } from '../../../../src/retrieval/tokenizer/wordTable.ts';

/** The bytes of a word of a table. */
export function bytesOf({ bytes }: WordMemory, table: WordTable, record: number): Buffer {
  const start = table.bytesAt(record);
  return Buffer.from(bytes.subarray(start, start + table.lengthOf(record)));
}
