import { CHANGEABLE, KINDS, MAX_WORD, VOWEL } from './kernelLayout.ts';
import { kindsAt } from './intern.ts';
import {
  DERIVED,
  ENDING,
  ENDING_MASK,
  FORMED,
  LETTER_BITS,
  MODIFIED,
  REPLACEMENT,
  REPLACEMENT_SIZE,
  RULE_BYTES,
  VOWELS,
} from './kernelLayout.ts';

const LAST_ASCII: u8 = 127;
const PAIR_AT = 0x7461;
const PAIR_BL = 0x6c62;
const PAIR_IZ = 0x7a69;
const D = 0x64;
const E = 0x65;
const G = 0x67;
const I = 0x69;
const L = 0x6c;
const N = 0x6e;
const O = 0x6f;
const S = 0x73;
const T = 0x74;
const W = 0x77;
const X = 0x78;
const Y = 0x79;
const Z = 0x7a;

// The current word, and a bit for each of its vowels; `y` is a consonant at the start and after a vowel.
let start: usize = 0;
let end: usize = 0;
let vowels: u64 = 0;

/**
 * Stems lower-case words in place, given by their spans, and writes their new ends (M. F. Porter, "An algorithm for suffix stripping",
 * 1980, with the changes of its author and of lunr: `bli`, `logi`, and a final `y` after a consonant). Everything that is not a vowel
 * counts as a consonant, including digits and other scripts.
 */
export function stemTerms(spans: usize, spansEnd: usize): void {
  for (; spans < spansEnd; spans += 8) {
    start = load<u32>(spans);
    end = load<u32>(spans, 4);
    const length = end - start;
    if (length < 3 || length > usize(MAX_WORD) || !(kindsAt(end - 1) & CHANGEABLE)) continue;
    findVowels();
    removePlural();
    removePast();
    replaceFinalY();
    replaceEnding(DERIVED, 1);
    replaceEnding(MODIFIED, 1);
    removeSuffix();
    removeFinal();
    store<u32>(spans, end, 4);
  }
}

function findVowels(): void {
  vowels = 0;
  // As if a vowel preceded the first letter.
  let isVowel: u32 = 1;
  for (let at = start; at < end; at++) {
    const letter = load<u8>(at);
    isVowel = (u32(isVowel == 0) & u32(letter == Y)) | u32((load<u8>(letter, KINDS) & VOWEL) != 0);
    vowels |= u64(isVowel) << u64(at - start);
  }
}

function removePlural(): void {
  if (last(1) != S) return;
  const length = end - start;
  if (last(2) == E && ((length >= 5 && last(3) == S && last(4) == S) || (length >= 4 && last(3) == I))) end -= 2;
  else if (length >= 3 && last(2) != S) end -= 1;
}

/** Removes `ed` and `ing`. */
function removePast(): void {
  const length = end - start;
  let left: usize = 0;
  if (length >= 3 && last(1) == G && last(2) == N && last(3) == I) left = length - 3;
  else if (last(1) == D && last(2) == E) {
    left = length - 2;
    if (length >= 4 && last(3) == E) {
      if (measure(length - 3) > 0) end--;
      return;
    }
  }
  if (firstVowels(left) == 0) return;
  end = start + left;
  if (isDouble(left)) end--;
  else if (isClipped(left) || isShort(left)) {
    store<u8>(end, E);
    vowels |= u64(1) << u64(left);
    end++;
  }
}

function replaceFinalY(): void {
  const length = end - start;
  if (length < 3 || last(1) != Y || kindsAt(end - 2) & VOWEL) return;
  store<u8>(end - 1, I);
  vowels |= u64(1) << u64(length - 1);
}

/** Replaces the word's longest ending in a step if the measure of the rest is large enough. */
function replaceEnding(step: usize, leastMeasure: u32): void {
  const length = end - start;
  for (let rule: usize = load<u32>(step + 4 * (last(1) & LETTER_BITS)); load<u32>(rule) != 0; rule += RULE_BYTES) {
    const size = load<u32>(rule);
    if (size >= length || (load<u64>(end - 8) & load<u64>(rule, ENDING_MASK)) != load<u64>(rule, ENDING)) continue;
    const left = length - size;
    if (measure(left) < leastMeasure) return;
    store<u64>(start + left, load<u64>(rule, REPLACEMENT));
    vowels = firstVowels(left) | (load<u64>(rule, VOWELS) << u64(left));
    end = start + left + load<u32>(rule, REPLACEMENT_SIZE);
    return;
  }
}

function removeSuffix(): void {
  if (last(1) == N && last(2) == O && last(3) == I) {
    const length = end - start;
    if (length >= 5 && (last(4) == S || last(4) == T) && measure(length - 3) > 1) end -= 3;
  } else replaceEnding(FORMED, 2);
}

function removeFinal(): void {
  const length = end - start;
  if (length >= 2 && last(1) == E) {
    const rest = measure(length - 1);
    if (rest > 1 || (rest == 1 && !isShort(length - 1))) end--;
  }
  if (end - start >= 2 && last(1) == L && last(2) == L && measure(end - start) > 1) end--;
}

function last(letters: usize): u32 {
  return load<u8>(end - letters);
}

function firstBits(count: usize): u64 {
  return (u64(1) << u64(count)) - 1;
}

function firstVowels(count: usize): u64 {
  return vowels & firstBits(count);
}

/** The measure of the first letters: how often vowels are followed by consonants. */
function measure(count: usize): u32 {
  return u32(popcnt(vowels & ~(vowels >> 1) & firstBits(count - 1)));
}

/** Whether the first letters are consonants, one vowel, and a consonant that is not w, x or y. */
function isShort(count: usize): bool {
  if (count < 3 || firstVowels(count) != u64(1) << u64(count - 2)) return false;
  const letter = load<u8>(start + count - 1);
  return letter != W && letter != X && letter != Y;
}

/** Whether the first letters end in `at`, `bl` or `iz`. */
function isClipped(count: usize): bool {
  const pair = load<u16>(start + count - 2);
  return count > 1 && (pair == PAIR_AT || pair == PAIR_BL || pair == PAIR_IZ);
}

/** Whether the first letters end in a double consonant that becomes single. */
function isDouble(count: usize): bool {
  const letter = load<u8>(start + count - 1);
  if (count < 2 || letter != load<u8>(start + count - 2)) return false;
  // A byte of a multi-byte character is not a letter by itself.
  if (letter > LAST_ASCII || load<u8>(letter, KINDS) & VOWEL) return false;
  return letter != Y && letter != L && letter != S && letter != Z;
}
