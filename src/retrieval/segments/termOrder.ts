import type { WordTable } from '../words/wordTable.ts';

// A block of a term and its place go into one double: doubles are sorted natively, terms one call at a time.
const PLACES = 2 ** 21;
// Below this, comparing terms is faster than making keys.
const FEW = 12;

/** The words of a table in the order of their bytes. */
export function orderTerms(table: WordTable): Uint32Array {
  const order = new Uint32Array(table.size);
  let record = 0;
  for (let at = 0; at < order.length; at += 1) order[at] = record = table.recordAfter(record);
  // Ranges of terms that have the same first blocks, and how many: a function that called itself for each would be optimised for
  // some of them and given up for the next, again and again.
  const ranges = [0, order.length, 0];
  for (let depth = ranges.pop(); depth !== undefined; depth = ranges.pop()) {
    const to = ranges.pop() ?? 0;
    sortRange(table, order, ranges.pop() ?? 0, to, depth, ranges);
  }
  return order;
}

/** Sorts terms whose blocks before `depth` are the same by the next one, and notes ranges that have that in common too. */
function sortRange(
  table: WordTable,
  order: Uint32Array,
  from: number,
  to: number,
  depth: number,
  ranges: number[],
): void {
  if (to - from <= FEW) {
    insertionSort(table, order, from, to, depth);
    return;
  }
  if (to - from > PLACES) {
    order.subarray(from, to).sort((a, b) => compare(table, a, b, depth));
    return;
  }
  const terms = order.slice(from, to);
  const keys = new Float64Array(terms.length);
  for (let place = 0; place < terms.length; place += 1) {
    keys[place] = table.blockOf(terms[place] ?? 0, depth) * PLACES + place;
  }
  keys.sort();
  let first = from;
  let firstBlock = -1;
  for (let at = from; at < to; at += 1) {
    const key = keys[at - from] ?? 0;
    const block = Math.floor(key / PLACES);
    order[at] = terms[key - block * PLACES] ?? 0;
    if (block === firstBlock) continue;
    if (at - first > 1) ranges.push(first, at, depth + 1);
    first = at;
    firstBlock = block;
  }
  if (to - first > 1) ranges.push(first, to, depth + 1);
}

function insertionSort(table: WordTable, order: Uint32Array, from: number, to: number, depth: number): void {
  for (let at = from + 1; at < to; at += 1) {
    const term = order[at] ?? 0;
    let place = at;
    for (; place > from && compare(table, term, order[place - 1] ?? 0, depth) < 0; place -= 1) {
      order[place] = order[place - 1] ?? 0;
    }
    order[place] = term;
  }
}

/** No term holds a zero byte, so that one which ends comes before those that go on. */
function compare(table: WordTable, a: number, b: number, depth: number): number {
  if (a === b) return 0;
  for (let at = depth; ; at += 1) {
    const difference = table.blockOf(a, at) - table.blockOf(b, at);
    if (difference !== 0) return difference;
  }
}
