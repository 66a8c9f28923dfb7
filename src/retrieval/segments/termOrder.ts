import { ENTRY_BYTES, RECORD } from '../kernel/assembly/layout/order.ts';
import type { KernelMemory } from '../tokenizer/kernelMemory.ts';
import type { TermInternTable } from '../tokenizer/termInternTable.ts';

/** The words of a table, sorted by their bytes. */
export function orderTerms(memory: KernelMemory, table: TermInternTable): Uint32Array {
  const size = ENTRY_BYTES * table.size;
  const buffer = memory.allocate(2 * size);
  const { address, first, end } = table;
  const entries = memory.kernel.sortWords(address + first, address + end, buffer, buffer + size);
  const { numbers } = memory;
  const order = new Uint32Array(table.size);
  for (let at = 0; at < order.length; at += 1) {
    order[at] = (numbers[(entries + ENTRY_BYTES * at + RECORD) / 4] ?? 0) - address;
  }
  memory.free(buffer, 2 * size);
  return order;
}
