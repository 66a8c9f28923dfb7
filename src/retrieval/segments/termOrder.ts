import { ENTRY_BYTES, RECORD } from '../kernel/orderFunction.ts';
import type { WordMemory } from '../tokenizer/wordMemory.ts';
import type { WordTable } from '../tokenizer/wordTable.ts';

/** The words of a table in the order of their bytes. */
export function orderTerms(memory: WordMemory, table: WordTable): Uint32Array {
  const size = ENTRY_BYTES * table.size;
  const room = memory.take(2 * size);
  const { address, first, end } = table;
  const entries = memory.program.order(address + first, address + end, room, room + size);
  const { numbers } = memory;
  const order = new Uint32Array(table.size);
  for (let at = 0; at < order.length; at += 1) {
    order[at] = (numbers[(entries + ENTRY_BYTES * at + RECORD) / 4] ?? 0) - address;
  }
  memory.leave(room, 2 * size);
  return order;
}
