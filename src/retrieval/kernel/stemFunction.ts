import { CHANGEABLE, VOWEL } from './letters.ts';
import {
  DERIVED,
  ENDING,
  ENDING_MASK,
  FORMED,
  LETTER_BITS,
  MODIFIED,
  NO_RULE,
  REPLACEMENT,
  REPLACEMENT_SIZE,
  RULE_BYTES,
  VOWELS,
} from './stemRules.ts';
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
  load,
  load16,
  load8,
  long,
  or,
  repeatWhile,
  set,
  shiftLeft,
  store,
  store8,
  subtract,
  when,
  type Code,
  type Value,
} from './assembler/webAssembly.ts';
import { CLASSES, MAX_WORD } from './kernelLayout.ts';

const codeOf = (letter: string): number => letter.charCodeAt(0);
const pairOf = (letters: string): number => codeOf(letters) | (letters.charCodeAt(1) << 8);
const anyOf = (...conditions: readonly Code[]): Code => conditions.reduce((left, right) => or(left, right));
const allOf = (...conditions: readonly Code[]): Code => conditions.reduce((left, right) => and(left, right));
const not = isZero;
const LAST_ASCII = 127;
const ONE = long.constant(1n);
const ALL = long.constant(-1n);

/**
 * stem(borders, bordersEnd): cuts words of lower case, given by where they begin and end, to their stems, where they stand, and writes
 * the new ends (M. F. Porter, "An algorithm for suffix stripping", 1980, with the departures that its author and lunr have: `bli`,
 * `logi`, and a final `y` behind a consonant). Whatever is no vowel counts as a consonant, digits and other scripts too.
 */
export function stemFunction(): ProgramFunction {
  const f = new ProgramFunction('stem');
  const { borders, bordersEnd } = f.parameters('borders', 'bordersEnd');
  const { start, end, at, cut, rule, isVowel } = f.locals(I32, 'start', 'end', 'at', 'cut', 'rule', 'isVowel');
  // A bit for each letter that is a vowel: a `y` is a consonant at the start and behind a vowel.
  const { vowels } = f.locals(I64, 'vowels');

  const length = subtract(end, start);
  const last = (letters: number): Code => load8(subtract(end, letters));
  const isLast = (letters: number, letter: string): Code => isEqual(last(letters), codeOf(letter));
  const isAtLeast = (letters: number): Code => isLess(letters - 1, length);
  const firstBits = (count: Value): Code => long.subtract(long.shiftLeft(ONE, long.fromLow(count)), ONE);
  const firstVowels = (count: Value): Code => long.and(vowels, firstBits(count));
  /** How often vowels are followed by consonants in the first letters. */
  const measure = (count: Value): Code =>
    long.low(
      long.ones(long.and(long.and(vowels, long.xor(long.shiftRight(vowels, ONE), ALL)), firstBits(subtract(count, 1)))),
    );
  /** Whether the first letters are consonants, one vowel, and a consonant that is not w, x or y. */
  const isShort = (count: Value): Code => {
    const letter = load8(add(start, subtract(count, 1)));
    const isOther = anyOf(...Array.from('wxy', (other) => isEqual(letter, codeOf(other))));
    const onlyVowel = long.shiftLeft(ONE, long.fromLow(subtract(count, 2)));
    return allOf(isLess(2, count), long.isEqual(firstVowels(count), onlyVowel), not(isOther));
  };
  /** Takes the longest ending that the word has, where what is before it measures as much. */
  const replaceEnding = (step: number, leastMeasure: number): Code[] => [
    set(rule, load(shiftLeft(and(last(1), LETTER_BITS), 2), step)),
    repeatWhile(
      isNotZero(load(rule)),
      set(cut, subtract(length, load(rule))),
      when(
        and(
          isLess(load(rule), length),
          long.isEqual(long.and(long.load(subtract(end, 8)), long.load(rule, ENDING_MASK)), long.load(rule, ENDING)),
        ),
        when(
          isLess(leastMeasure - 1, measure(cut)),
          long.store(add(start, cut), long.load(rule, REPLACEMENT)),
          set(vowels, long.or(firstVowels(cut), long.shiftLeft(long.load(rule, VOWELS), long.fromLow(cut)))),
          set(end, add(add(start, cut), load(rule, REPLACEMENT_SIZE))),
        ),
        set(rule, NO_RULE - RULE_BYTES),
      ),
      increase(rule, RULE_BYTES),
    ),
  ];

  const findVowels = [
    set(vowels, long.constant(0n)),
    set(isVowel, 1),
    set(at, start),
    repeatWhile(
      isLess(at, end),
      // Behind a consonant, as if the first letter came behind a vowel.
      set(isVowel, and(not(isVowel), isEqual(load8(at), codeOf('y')))),
      set(isVowel, or(isVowel, isNotZero(and(load8(load8(at), CLASSES), VOWEL)))),
      set(vowels, long.or(vowels, long.shiftLeft(long.fromLow(isVowel), long.fromLow(subtract(at, start))))),
      increase(at, 1),
    ),
  ];
  const withoutPlural = when(
    isLast(1, 's'),
    set(cut, 0),
    when(
      anyOf(
        allOf(isAtLeast(5), isLast(2, 'e'), isLast(3, 's'), isLast(4, 's')),
        allOf(isAtLeast(4), isLast(2, 'e'), isLast(3, 'i')),
      ),
      set(cut, 2),
    ),
    when(allOf(not(cut), isAtLeast(3), not(isLast(2, 's'))), set(cut, 1)),
    set(end, subtract(end, cut)),
  );
  // What is before `ed` and `ing`.
  const pairBefore = load16(add(start, subtract(cut, 2)));
  const isClipped = and(isLess(1, cut), anyOf(...['at', 'bl', 'iz'].map((pair) => isEqual(pairBefore, pairOf(pair)))));
  const letterBefore = load8(add(start, subtract(cut, 1)));
  const staysDouble = anyOf(
    isLess(LAST_ASCII, letterBefore), // a byte of a character
    isNotZero(and(load8(letterBefore, CLASSES), VOWEL)),
    ...Array.from('ylsz', (letter) => isEqual(letterBefore, codeOf(letter))),
  );
  const isDouble = allOf(isLess(1, cut), isEqual(letterBefore, load8(add(start, subtract(cut, 2)))), not(staysDouble));
  const withoutPast = [
    set(cut, 0),
    when(allOf(isLast(1, 'g'), isLast(2, 'n'), isLast(3, 'i'), isAtLeast(3)), set(cut, subtract(length, 3))),
    when(
      and(isLast(1, 'd'), isLast(2, 'e')),
      set(cut, subtract(length, 2)),
      when(
        and(isAtLeast(4), isLast(3, 'e')),
        set(cut, 0),
        when(isNotZero(measure(subtract(length, 3))), increase(end, -1)),
      ),
    ),
    when(
      long.isNotZero(firstVowels(cut)),
      set(end, add(start, cut)),
      when(isDouble, increase(end, -1), set(cut, 0)),
      when(
        or(isClipped, isShort(cut)),
        store8(end, codeOf('e')),
        set(vowels, long.or(vowels, long.shiftLeft(ONE, long.fromLow(cut)))),
        increase(end, 1),
      ),
    ),
  ];
  const withoutY = when(
    allOf(isAtLeast(3), isLast(1, 'y'), isZero(and(load8(last(2), CLASSES), VOWEL))),
    store8(subtract(end, 1), codeOf('i')),
    set(vowels, long.or(vowels, long.shiftLeft(ONE, long.fromLow(subtract(length, 1))))),
  );
  const isIon = allOf(isLast(1, 'n'), isLast(2, 'o'), isLast(3, 'i'));
  const withoutSuffix = [
    set(at, isIon),
    when(
      at,
      when(
        allOf(isAtLeast(5), or(isLast(4, 's'), isLast(4, 't')), isLess(1, measure(subtract(length, 3)))),
        increase(end, -3),
      ),
    ),
    when(not(at), ...replaceEnding(FORMED, 2)),
  ];
  const withoutFinal = [
    when(
      and(isAtLeast(2), isLast(1, 'e')),
      set(cut, subtract(length, 1)),
      set(at, measure(cut)),
      when(isLess(isShort(cut), at), increase(end, -1)),
    ),
    when(allOf(isAtLeast(2), isLast(1, 'l'), isLast(2, 'l'), isLess(1, measure(length))), increase(end, -1)),
  ];
  return f.is([
    repeatWhile(
      isLess(borders, bordersEnd),
      set(start, load(borders)),
      set(end, load(borders, 4)),
      when(
        allOf(isAtLeast(3), isLess(length, MAX_WORD + 1), isNotZero(and(load8(last(1), CLASSES), CHANGEABLE))),
        ...findVowels,
        withoutPlural,
        ...withoutPast,
        withoutY,
        ...replaceEnding(DERIVED, 1),
        ...replaceEnding(MODIFIED, 1),
        ...withoutSuffix,
        ...withoutFinal,
        store(borders, end, 4),
      ),
      increase(borders, 8),
    ),
  ]);
}
