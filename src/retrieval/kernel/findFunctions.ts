import { randomBytes } from 'node:crypto';
import { ProgramFunction } from './assembler/programModule.ts';
import {
  add,
  and,
  I32,
  I64,
  increase,
  isEqual,
  isLess,
  isNotZero,
  isZero,
  least,
  load,
  long,
  or,
  repeatUntil,
  repeatWhile,
  set,
  shiftLeft,
  store,
  subtract,
  when,
  type Code,
  type Local,
} from './assembler/webAssembly.ts';
import { BYTES, COUNT, FIRST, LENGTH, MASKS, SECOND, SIZE_AT } from './kernelLayout.ts';

// Another one in each thread, so that nobody can write a file whose words all go into one slot.
const SEED = long.constant(randomBytes(8).readBigUInt64LE());
const FACTOR = long.constant(0x9e_37_79_b9_7f_4a_7c_15n);
const HALF = long.constant(32n);
const maskOf = (size: Code): Code => long.load(shiftLeft(least(size, 8), 3), MASKS);
const mix = (hash: Local, block: Code): Code[] => [
  set(hash, long.multiply(long.xor(hash, block), FACTOR)),
  set(hash, long.xor(hash, long.shiftRight(hash, HALF))),
];
/** Where a record ends. */
export const behindRecord = (record: Local): Code => add(add(record, BYTES), and(add(load(record, LENGTH), 7), -8));
const placeOf = (slots: Local, slot: Code): Code => add(slots, shiftLeft(slot, 2));

/**
 * find(borders, bordersEnd, found, records, end, slots, mask, size): writes the record of each word, a distance from `records`, and
 * gives the end of the records, where those of new words are added and numbered from `size` on. There is room for as many, and free
 * slots.
 */
export function findFunction(): ProgramFunction {
  const f = new ProgramFunction('find');
  const { borders, bordersEnd, found } = f.parameters('borders', 'bordersEnd', 'found');
  const { records, end, slots, mask, size } = f.parameters('records', 'end', 'slots', 'mask', 'size');
  const { start, length, at, slot } = f.locals(I32, 'start', 'length', 'at', 'slot');
  const { record, word, isFound } = f.locals(I32, 'record', 'word', 'isFound');
  const { first, hash } = f.locals(I64, 'first', 'hash');
  const blockAt = long.and(long.load(add(start, at)), maskOf(subtract(length, at)));
  const isLong = isLess(8, length);
  const forRest = (...body: Code[]): Code =>
    when(isLong, set(at, 8), repeatWhile(isLess(at, length), ...body, increase(at, 8)));
  return f.is(
    [
      repeatWhile(
        isLess(borders, bordersEnd),
        set(start, load(borders)),
        set(length, subtract(load(borders, 4), start)),
        set(first, long.and(long.load(start), maskOf(length))),
        set(hash, SEED),
        ...mix(hash, first),
        forRest(...mix(hash, blockAt)),
        set(hash, long.multiply(hash, FACTOR)),
        set(slot, long.low(long.shiftRight(hash, HALF))),
        repeatUntil(
          isFound,
          set(slot, and(slot, mask)),
          set(record, load(placeOf(slots, slot))),
          set(word, add(records, record)),
          set(isFound, and(long.isEqual(long.load(word, BYTES), first), isEqual(load(word, LENGTH), length))),
          when(isFound, forRest(set(isFound, and(isFound, long.isEqual(long.load(add(word, at), BYTES), blockAt))))),
          set(isFound, or(isFound, isZero(record))),
          increase(slot, 1),
        ),
        when(
          isZero(record),
          set(record, subtract(end, records)),
          store(placeOf(slots, subtract(slot, 1)), record),
          store(end, length, LENGTH),
          store(end, size, FIRST),
          increase(size, 1),
          store(end, 0, SECOND),
          store(end, 0, COUNT),
          long.store(end, first, BYTES),
          forRest(long.store(add(end, at), blockAt, BYTES)),
          increase(end, add(BYTES, and(add(length, 7), -8))),
        ),
        store(found, record),
        increase(found, 4),
        increase(borders, 8),
      ),
      store(0, size, SIZE_AT),
    ],
    end,
  );
}

/** index(records, record, end, slots, mask): puts all records from `record` on into empty slots. */
export function indexFunction(): ProgramFunction {
  const f = new ProgramFunction('index');
  const { records, record, end } = f.parameters('records', 'record', 'end');
  const { slots, mask } = f.parameters('slots', 'mask');
  const { at, blocksEnd, slot } = f.locals(I32, 'at', 'blocksEnd', 'slot');
  const { hash } = f.locals(I64, 'hash');
  return f.is([
    repeatWhile(
      isLess(record, end),
      set(at, record),
      set(blocksEnd, add(record, and(add(load(record, LENGTH), 7), -8))),
      set(hash, SEED),
      repeatUntil(isEqual(at, blocksEnd), ...mix(hash, long.load(at, BYTES)), increase(at, 8)),
      set(hash, long.multiply(hash, FACTOR)),
      set(slot, and(long.low(long.shiftRight(hash, HALF)), mask)),
      repeatWhile(isNotZero(load(placeOf(slots, slot))), set(slot, and(add(slot, 1), mask))),
      store(placeOf(slots, slot), subtract(record, records)),
      set(record, add(blocksEnd, BYTES)),
    ),
  ]);
}
