import { behindRecord } from './findFunctions.ts';
import { DIGIT, LOWER, SEPARATOR, UPPER } from './letters.ts';
import { ProgramFunction } from './assembler/programModule.ts';
import {
  add,
  and,
  I32,
  increase,
  isEqual,
  isLess,
  isNotZero,
  isZero,
  load,
  load8,
  long,
  or,
  repeatUntil,
  repeatWhile,
  set,
  shiftLeft,
  shiftRight,
  store,
  store8,
  subtract,
  when,
  type Code,
  type Local,
  type Value,
} from './assembler/webAssembly.ts';
import { BYTES, CLASSES, LENGTH, MAX_WORD, SECOND, STOPPED_AT, TERM_PADDING } from './kernelLayout.ts';

const NOT_ASCII = long.constant(0x80_80_80_80_80_80_80_80n);
// What makes a capital small.
const CASE = 5;

/**
 * split(record, recordsEnd, text, borders): writes the terms of words in lower case and not stemmed yet, and where each begins and
 * ends; gives the end of that. They are the whole and its parts where it has several, cut at case changes (fooBar, HTTPServer), digits
 * and separators. A word's second number becomes how many they are. It stops at a word that is not ASCII, and says where.
 */
export function splitFunction(): ProgramFunction {
  const f = new ProgramFunction('split');
  const { record, recordsEnd, text, borders } = f.parameters('record', 'recordsEnd', 'text', 'borders');
  const { length, at, end, from, next } = f.locals(I32, 'length', 'at', 'end', 'from', 'next');
  const { first, parts, isOther, copied } = f.locals(I32, 'first', 'parts', 'isOther', 'copied');
  const whileKind = (kind: number): Code => repeatWhile(and(isLess(at, end), isOf(at, kind)), increase(at, 1));
  const emit = (start: Local, stop: Value): Code[] => writeTerm(start, stop, { text, borders, copied });
  return f.is(
    [
      repeatWhile(
        isLess(record, recordsEnd),
        set(length, load(record, LENGTH)),
        set(next, behindRecord(record)),
        set(isOther, 0),
        set(at, record),
        repeatUntil(
          isEqual(add(at, BYTES), next),
          set(isOther, or(isOther, long.isNotZero(long.and(long.load(at, BYTES), NOT_ASCII)))),
          increase(at, 8),
        ),
        store(0, record, STOPPED_AT),
        when(isOther, set(recordsEnd, 0)),
        when(
          isZero(isOther),
          set(at, add(record, BYTES)),
          set(end, add(at, length)),
          when(isLess(MAX_WORD, length), set(end, at)),
          whileKind(SEPARATOR),
          repeatWhile(and(isLess(at, end), isOf(subtract(end, 1), SEPARATOR)), increase(end, -1)),
          set(first, borders),
          when(isLess(at, end), ...emit(at, end)),
          set(parts, 0),
          repeatWhile(
            isLess(at, end),
            whileKind(SEPARATOR),
            set(from, at),
            whileKind(DIGIT),
            when(
              isEqual(at, from),
              whileKind(UPPER),
              when(
                and(isLess(1, subtract(at, from)), and(isLess(at, end), isOf(at, LOWER))),
                // The last of several capitals begins the next word.
                ...emit(from, subtract(at, 1)),
                increase(parts, 1),
                set(from, subtract(at, 1)),
              ),
              when(isLess(subtract(at, from), 2), whileKind(LOWER)),
            ),
            ...emit(from, at),
            increase(parts, 1),
          ),
          // Of a single part only the whole stays.
          when(isEqual(parts, 1), increase(borders, -8)),
          store(record, shiftRight(subtract(borders, first), 3), SECOND),
          set(record, next),
        ),
      ),
      when(isZero(isOther), store(0, record, STOPPED_AT)),
    ],
    borders,
  );
}

/** Whether the byte at an address is of a kind. */
function isOf(address: Value, kind: number): Code {
  return isNotZero(and(load8(load8(address), CLASSES), kind));
}

/** Writes a part of a word in lower case, and where it begins and ends. */
function writeTerm(
  from: Local,
  to: Value,
  { text, borders, copied }: Readonly<Record<'text' | 'borders' | 'copied', Local>>,
): Code[] {
  const isCapital = and(load8(load8(copied), CLASSES), UPPER);
  return [
    store(borders, text),
    set(copied, from),
    repeatWhile(
      isLess(copied, to),
      store8(text, or(load8(copied), shiftLeft(isCapital, CASE))),
      increase(text, 1),
      increase(copied, 1),
    ),
    store(borders, text, 4),
    increase(borders, 8),
    increase(text, TERM_PADDING),
  ];
}
