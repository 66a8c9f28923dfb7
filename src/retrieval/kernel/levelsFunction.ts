import { HIGHEST_LEVEL, LEVEL_BASE, LEVEL_SLOPE, MOST_PASSED, RANGE } from '../postings/scoreLevels.ts';
import { ProgramFunction } from './assembler/programModule.ts';
import {
  add,
  and,
  F64,
  float,
  I32,
  increase,
  isEqual,
  isLess,
  load,
  load16,
  or,
  repeatWhile,
  set,
  shiftLeft,
  shiftRight,
  store8,
  subtract,
  type Code,
  type Value,
} from './assembler/webAssembly.ts';

const RANGE_BITS = Math.log2(RANGE);

/**
 * levels(documents, frequencies, count, lengths, to): writes the levels of a list's ranges as `RangeLevels` reads them, and gives
 * their end: for each range with a document of the list a byte of its level and of how many ranges were passed over since the one
 * before, and for as many as that does not hold a byte without a level.
 */
export function levelsFunction(): ProgramFunction {
  const f = new ProgramFunction('levels');
  const { documents, frequencies, count } = f.parameters('documents', 'frequencies', 'count');
  const { lengths, to } = f.parameters('lengths', 'to');
  const { end, range, before, passed } = f.locals(I32, 'end', 'range', 'before', 'passed');
  const { norm, least } = f.locals(F64, 'norm', 'least');
  const document = load(documents);
  const rangeOfDocument = shiftRight(document, RANGE_BITS);
  const length = float.from(load16(add(lengths, shiftLeft(document, 1))));
  const frequency = float.from(load16(frequencies));
  // What is missing to the whole is rounded down, so the level is rounded up.
  const level = subtract(HIGHEST_LEVEL, float.whole(float.multiply(least, float.constant(HIGHEST_LEVEL))));
  const writeByte = (byte: Value): Code => [store8(to, byte), increase(to, 1)];
  return f.is(
    [
      set(end, add(documents, shiftLeft(count, 2))),
      set(before, -1),
      repeatWhile(
        isLess(documents, end),
        set(range, rangeOfDocument),
        set(least, float.constant(1)),
        repeatWhile(
          and(isLess(documents, end), isEqual(rangeOfDocument, range)),
          set(norm, float.add(float.constant(LEVEL_BASE), float.multiply(float.constant(LEVEL_SLOPE), length))),
          set(least, float.least(least, float.divide(norm, float.add(frequency, norm)))),
          increase(documents, 4),
          increase(frequencies, 2),
        ),
        set(passed, subtract(subtract(range, before), 1)),
        set(before, range),
        repeatWhile(isLess(MOST_PASSED, passed), writeByte(MOST_PASSED), increase(passed, -1 - MOST_PASSED)),
        writeByte(or(shiftLeft(level, 4), passed)),
      ),
    ],
    to,
  );
}
