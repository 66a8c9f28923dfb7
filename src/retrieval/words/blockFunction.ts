import { LEAST_PACKED, MOST_WIDTH } from '../segments/packing.ts';
import {
  add,
  and,
  divide,
  I32,
  I64,
  increase,
  isEqual,
  isLess,
  isNotZero,
  leadingZeros,
  load,
  load16,
  long,
  multiply,
  or,
  ProgramFunction,
  repeatWhile,
  set,
  shiftLeft,
  shiftRight,
  store,
  store8,
  subtract,
  vector,
  when,
  type Code,
  type Local,
} from './webAssembly.ts';
import { NUMBERS, WIDTHS } from './wordRecord.ts';

const LANE_BYTES = 16;
const ZEROS = vector.constant(Array.from({ length: LANE_BYTES }, () => 0));
const CLEAR_WIDTHS = Array.from({ length: 9 }, (_, lane) => vector.store(WIDTHS, ZEROS, LANE_BYTES * lane));

/**
 * block(documents, frequencies, count, before, to): writes the postings of a block as `PostingsWriter` says, the first document by its
 * distance to `before`, and gives the end of that. It writes up to eight bytes behind.
 */
export function blockFunction(): ProgramFunction {
  const f = new ProgramFunction('block');
  const { documents, frequencies, count, before, to } = f.parameters(
    'documents',
    'frequencies',
    'count',
    'before',
    'to',
  );
  const { at, end, number, frequency, rest } = f.locals(I32, 'at', 'end', 'number', 'frequency', 'rest');
  const pack = packer(f, { at, end, number, rest, count, to });
  const overCount = (...body: Code[]): Code => [set(at, 0), repeatWhile(isLess(at, count), ...body, increase(at, 1))];
  const readNumber = [
    set(number, load(add(documents, shiftLeft(at, 2)))),
    set(frequency, load16(add(frequencies, shiftLeft(at, 1)))),
  ];
  const numberAt = shiftLeft(at, 2);
  return f.is(
    [
      when(
        isLess(count, LEAST_PACKED),
        overCount(
          ...readNumber,
          set(rest, or(shiftLeft(subtract(number, before), 1), isEqual(frequency, 1))),
          set(before, number),
          writeVarint(to, rest),
          when(isLess(1, frequency), set(rest, frequency), writeVarint(to, rest)),
        ),
        set(count, 0),
      ),
      when(
        isNotZero(count),
        overCount(
          set(number, load(add(documents, numberAt))),
          store(numberAt, subtract(subtract(number, before), 1), NUMBERS),
          set(before, number),
        ),
        ...pack,
        overCount(store(numberAt, subtract(load16(add(frequencies, shiftLeft(at, 1))), 1), NUMBERS)),
        ...pack,
      ),
    ],
    to,
  );
}

/** Packs the first `count` of the numbers at NUMBERS, as `packing.ts` says. */
function packer(
  f: ProgramFunction,
  { at, end, number, rest, count, to }: Readonly<Record<'at' | 'end' | 'number' | 'rest' | 'count' | 'to', Local>>,
): readonly Code[] {
  const { own, widest, width, exceptions, bits } = f.locals(I32, 'own', 'widest', 'width', 'exceptions', 'bits');
  const { best, fewest, chosen } = f.locals(I32, 'best', 'fewest', 'chosen');
  const { pending, mask } = f.locals(I64, 'pending', 'mask');
  const overNumbers = (...body: Code[]): Code => [
    set(at, 0),
    repeatWhile(isLess(at, end), set(number, load(at, NUMBERS)), ...body, increase(at, 4)),
  ];
  const sizeOfException = shiftLeft(add(divide(add(subtract(widest, width), 6), 7), 1), 3);
  return [
    set(end, shiftLeft(count, 2)),
    ...CLEAR_WIDTHS,
    set(widest, 0),
    overNumbers(
      set(own, shiftLeft(subtract(32, leadingZeros(number)), 2)),
      store(own, add(load(own, WIDTHS), 1), WIDTHS),
      // The highest bit of all of them is that of the widest.
      set(widest, or(widest, number)),
    ),
    set(widest, subtract(32, leadingZeros(widest))),
    set(width, add(widest, 1)),
    set(exceptions, 0),
    set(fewest, -1),
    repeatWhile(
      isNotZero(width),
      increase(width, -1),
      set(bits, add(multiply(count, width), multiply(exceptions, sizeOfException))),
      when(
        and(isLess(width, MOST_WIDTH + 1), isLess(bits, fewest)),
        set(fewest, bits),
        set(best, width),
        set(chosen, exceptions),
      ),
      increase(exceptions, load(shiftLeft(width, 2), WIDTHS)),
    ),
    store8(to, best),
    store8(to, chosen, 1),
    increase(to, 2),
    set(mask, long.subtract(long.shiftLeft(long.constant(1n), long.fromLow(best)), long.constant(1n))),
    set(pending, long.constant(0n)),
    set(bits, 0),
    overNumbers(
      set(pending, long.or(pending, long.shiftLeft(long.and(long.fromLow(number), mask), long.fromLow(bits)))),
      long.store(to, pending),
      increase(bits, best),
      increase(to, shiftRight(bits, 3)),
      set(pending, long.shiftRight(pending, long.fromLow(and(bits, -8)))),
      set(bits, and(bits, 7)),
    ),
    increase(to, isNotZero(bits)),
    when(
      isNotZero(chosen),
      overNumbers(
        set(rest, shiftRight(number, best)),
        when(isNotZero(rest), store8(to, shiftRight(at, 2)), increase(to, 1), writeVarint(to, rest)),
      ),
    ),
  ];
}

/** Writes a number, which it changes, in seven bits a byte. */
function writeVarint(to: Local, rest: Local): Code {
  return [
    repeatWhile(isLess(127, rest), store8(to, or(rest, 128)), set(rest, shiftRight(rest, 7)), increase(to, 1)),
    store8(to, rest),
    increase(to, 1),
  ];
}
