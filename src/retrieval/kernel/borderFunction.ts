import { ProgramFunction } from './assembler/programModule.ts';
import {
  add,
  I32,
  I64,
  increase,
  isLess,
  long,
  repeatUntil,
  set,
  shiftLeft,
  store,
  V128,
  vector,
} from './assembler/webAssembly.ts';
import { STEP_BYTES } from './kernelLayout.ts';

const LANES = [0, 1, 2, 3] as const;
const LANE_BYTES = 16;
// Two tables tell whether an ASCII character is part of a word: one by its upper four bits, the other by its lower ones. A bit
// that both have stands for one row or two of the ASCII table.
const UPPER = vector.constant([0, 0, 1, 2, 4, 8, 4, 16, 0, 0, 0, 0, 0, 0, 0, 0]);
const ROWS = [2, 3, 4, 5, 7];
const LOWER = vector.constant(
  Array.from({ length: LANE_BYTES }, (_, low) => {
    const isOf = (row: number): boolean => /[\w$]/.test(String.fromCharCode(16 * row + low));
    return ROWS.reduce((bits, row, bit) => bits | (isOf(row) ? 1 << bit : 0), 0);
  }),
);
const LOWER_BITS = vector.constant(Array.from({ length: LANE_BYTES }, () => 15));
const ZEROS = vector.constant(Array.from({ length: LANE_BYTES }, () => 0));

/** borders(text, end, borders): writes where words of an ASCII text begin and end, by turns, and gives the end of that. */
export function bordersFunction(): ProgramFunction {
  const f = new ProgramFunction('borders');
  const { text, end, borders } = f.parameters('text', 'end', 'borders');
  const { at } = f.locals(I32, 'at');
  const { kinds, changes, before } = f.locals(I64, 'kinds', 'changes', 'before');
  const { bytes } = f.locals(V128, 'bytes');
  const row = vector.lookUp(UPPER, vector.shiftRight(bytes, 4));
  const place = vector.lookUp(LOWER, vector.and(bytes, LOWER_BITS));
  const areInWord = long.fromLow(vector.differences(vector.and(row, place), ZEROS));
  return f.is(
    [
      ...LANES.map((lane) => vector.store(end, ZEROS, LANE_BYTES * lane)),
      repeatUntil(
        isLess(end, text),
        set(kinds, long.constant(0n)),
        ...LANES.flatMap((lane) => [
          set(bytes, vector.load(text, LANE_BYTES * lane)),
          set(kinds, long.or(kinds, long.shiftLeft(areInWord, long.constant(BigInt(LANE_BYTES * lane))))),
        ]),
        set(changes, long.xor(kinds, long.or(long.shiftLeft(kinds, long.constant(1n)), before))),
        set(before, long.shiftRight(kinds, long.constant(63n))),
        set(at, borders),
        increase(borders, shiftLeft(long.low(long.ones(changes)), 2)),
        // Four at a time, of which the last may be none: asking for each whether there are more costs more than writing it.
        repeatUntil(
          isLess(borders, add(at, 1)),
          ...LANES.flatMap((lane) => [
            store(at, add(text, long.low(long.trailingZeros(changes))), 4 * lane),
            set(changes, long.and(changes, long.subtract(changes, long.constant(1n)))),
          ]),
          increase(at, 4 * LANES.length),
        ),
        increase(text, STEP_BYTES),
      ),
    ],
    borders,
  );
}
