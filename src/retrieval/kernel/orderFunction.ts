import { behindRecord } from './findFunctions.ts';
import { ProgramFunction } from './assembler/programModule.ts';
import {
  add,
  and,
  choose,
  I32,
  I64,
  increase,
  isLess,
  isZero,
  least,
  load,
  long,
  or,
  repeatWhile,
  set,
  shiftLeft,
  store,
  subtract,
  vector,
  when,
  type Code,
  type Local,
} from './assembler/webAssembly.ts';
import { BYTES, LENGTH } from './kernelLayout.ts';

/** What is sorted of a word: its first eight bytes as a number whose order is theirs, and the address of its record. */
export const ENTRY_BYTES = 16;
/** Where in an entry the address of the record lies. */
export const RECORD = 8;
const REVERSED = vector.constant(Array.from({ length: ENTRY_BYTES }, (_, at) => Math.max(0, 7 - at)));

/** Eight bytes of a word as a number whose order is theirs; zeros behind its end, which come before all others. */
function blockOf(record: Code, at: Code | number): Code {
  const block = vector.half(vector.lookUp(vector.load(add(record, at), BYTES), REVERSED), 0);
  return choose(isLess(at, load(record, LENGTH)), block, long.constant(0n));
}

/**
 * order(record, recordsEnd, entries, spare): sorts words by their bytes, of which no two are the same, by merging ever longer runs,
 * and gives where their entries lie then, at one of two addresses with room for all of them.
 */
export function orderFunction(): ProgramFunction {
  const f = new ProgramFunction('order');
  const { record, recordsEnd, entries, spare } = f.parameters('record', 'recordsEnd', 'entries', 'spare');
  const { size, width, from, to, other } = f.locals(I32, 'size', 'width', 'from', 'to', 'other');
  const { left, leftEnd, right, rightEnd, isRight, at } = f.locals(
    I32,
    'left',
    'leftEnd',
    'right',
    'rightEnd',
    'isRight',
    'at',
  );
  const { leftBlock, rightBlock } = f.locals(I64, 'leftBlock', 'rightBlock');
  const take = (entry: Code): Code => [vector.store(to, vector.load(entry)), increase(to, ENTRY_BYTES)];
  const takeAll = (entry: Local, end: Local): Code =>
    repeatWhile(isLess(entry, end), take(entry), increase(entry, ENTRY_BYTES));
  const recordOf = (entry: Local): Code => load(entry, RECORD);
  const isInOne = or(isLess(at, load(recordOf(left), LENGTH)), isLess(at, load(recordOf(right), LENGTH)));
  const compareRest = [
    set(at, 8),
    repeatWhile(
      and(long.isEqual(leftBlock, rightBlock), isInOne),
      set(leftBlock, blockOf(recordOf(left), at)),
      set(rightBlock, blockOf(recordOf(right), at)),
      increase(at, 8),
    ),
  ];
  return f.is(
    [
      set(to, entries),
      repeatWhile(
        isLess(record, recordsEnd),
        long.store(to, blockOf(record, 0)),
        store(to, record, RECORD),
        increase(to, ENTRY_BYTES),
        set(record, behindRecord(record)),
      ),
      set(size, subtract(to, entries)),
      set(width, ENTRY_BYTES),
      repeatWhile(
        isLess(width, size),
        set(from, 0),
        set(to, spare),
        repeatWhile(
          isLess(from, size),
          set(left, add(entries, from)),
          increase(from, width),
          set(leftEnd, add(entries, least(from, size))),
          increase(from, width),
          set(right, leftEnd),
          set(rightEnd, add(entries, least(from, size))),
          repeatWhile(
            and(isLess(left, leftEnd), isLess(right, rightEnd)),
            set(leftBlock, long.load(left)),
            set(rightBlock, long.load(right)),
            when(long.isEqual(leftBlock, rightBlock), compareRest),
            // Chosen without a branch: which comes first cannot be foreseen.
            set(isRight, long.isLess(rightBlock, leftBlock)),
            take(choose(isRight, right, left)),
            increase(left, shiftLeft(isZero(isRight), 4)),
            increase(right, shiftLeft(isRight, 4)),
          ),
          takeAll(left, leftEnd),
          takeAll(right, rightEnd),
        ),
        set(other, entries),
        set(entries, spare),
        set(spare, other),
        set(width, shiftLeft(width, 1)),
      ),
    ],
    entries,
  );
}
