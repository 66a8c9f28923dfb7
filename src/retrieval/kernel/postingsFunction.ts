import { LEAST_PACKED, MOST_PACKED, MOST_WIDTH } from '../postings/packing.ts';
import { ProgramFunction } from './assembler/programModule.ts';
import {
  add,
  and,
  choose,
  copy,
  divide,
  I32,
  I64,
  increase,
  isEqual,
  isLess,
  isNotZero,
  isZero,
  leadingZeros,
  least,
  load,
  load16,
  long,
  multiply,
  or,
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
} from './assembler/webAssembly.ts';
import { writeVarint } from './assembler/varint.ts';
import { NUMBERS, WIDTHS } from './kernelLayout.ts';

const BLOCK = MOST_PACKED;
const LANE_BYTES = 16;
const ZEROS = vector.constant(Array.from({ length: LANE_BYTES }, () => 0));
const CLEAR_WIDTHS = Array.from({ length: 9 }, (_, lane) => vector.store(WIDTHS, ZEROS, LANE_BYTES * lane));

/**
 * postings(documents, frequencies, count, levels, blocks, to): writes a list of postings as `PostingsWriter` says, and gives its end.
 * Of a list that has several blocks the levels lie from `levels` to `blocks`, where it puts the blocks until it knows their sizes.
 * It writes up to eight bytes behind.
 */
export function postingsFunction(): ProgramFunction {
  const f = new ProgramFunction('postings');
  const { documents, frequencies, count } = f.parameters('documents', 'frequencies', 'count');
  const { levels, blocks, to } = f.parameters('levels', 'blocks', 'to');
  const { rest, isOne, out, start, size, before } = f.locals(I32, 'rest', 'isOne', 'out', 'start', 'size', 'before');
  const write = blockWriter(f, { documents, frequencies, size, before, rest, out });
  const lastDocument = load(add(documents, shiftLeft(subtract(size, 1), 2)));
  const writeNumber = (number: Code): Code => [set(rest, number), writeVarint(to, rest)];
  return f.is(
    [
      writeNumber(count),
      set(isOne, isLess(count, BLOCK + 1)),
      when(isZero(isOne), writeNumber(subtract(blocks, levels))),
      set(out, choose(isOne, to, blocks)),
      set(before, -1),
      repeatWhile(
        isNotZero(count),
        set(size, least(count, BLOCK)),
        set(start, out),
        ...write,
        when(isZero(isOne), writeNumber(subtract(lastDocument, before)), writeNumber(subtract(out, start))),
        set(before, lastDocument),
        increase(documents, shiftLeft(size, 2)),
        increase(frequencies, shiftLeft(size, 1)),
        set(count, subtract(count, size)),
      ),
      when(isZero(isOne), copy(to, levels, subtract(out, levels)), set(out, add(to, subtract(out, levels)))),
    ],
    out,
  );
}

/** Writes the postings of a block of `size`, the first document by its distance to `before`; `out` becomes the end of that. */
function blockWriter(
  f: ProgramFunction,
  {
    documents,
    frequencies,
    size,
    before,
    rest,
    out,
  }: Readonly<Record<'documents' | 'frequencies' | 'size' | 'before' | 'rest' | 'out', Local>>,
): readonly Code[] {
  const { item, end, number, last, times } = f.locals(I32, 'item', 'end', 'number', 'last', 'times');
  const pack = packer(f, { at: item, end, number, rest, count: size, to: out });
  const overSize = (...body: Code[]): Code => [
    set(last, before),
    set(item, 0),
    repeatWhile(isLess(item, size), ...body, increase(item, 1)),
  ];
  const itemAt = shiftLeft(item, 2);
  const takeNumber = set(number, load(add(documents, itemAt)));
  return [
    when(
      isLess(size, LEAST_PACKED),
      overSize(
        takeNumber,
        set(times, load16(add(frequencies, shiftLeft(item, 1)))),
        set(rest, or(shiftLeft(subtract(number, last), 1), isEqual(times, 1))),
        set(last, number),
        writeVarint(out, rest),
        when(isLess(1, times), set(rest, times), writeVarint(out, rest)),
      ),
    ),
    when(
      isLess(LEAST_PACKED - 1, size),
      overSize(takeNumber, store(itemAt, subtract(subtract(number, last), 1), NUMBERS), set(last, number)),
      ...pack,
      overSize(store(itemAt, subtract(load16(add(frequencies, shiftLeft(item, 1))), 1), NUMBERS)),
      ...pack,
    ),
  ];
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
