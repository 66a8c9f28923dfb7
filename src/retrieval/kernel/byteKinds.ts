import { CHANGEABLE, DIGIT, KINDS, LOWER, SEPARATOR, UPPER, VOWEL } from './assembly/layout/memory.ts';

const PATTERNS: readonly (readonly [RegExp, number])[] = [
  [/[A-Z]/, UPPER],
  [/[a-z]/, LOWER],
  [/[0-9]/, DIGIT],
  [/[_$]/, SEPARATOR],
  [/[aeiou]/, VOWEL],
  [/[cdegilmnrstuy]/, CHANGEABLE],
];
const LAST_ASCII = 127;

/** Writes the classes of each byte to the kernel's memory. */
export function writeByteKinds(memory: ArrayBuffer): void {
  const kinds = new Uint8Array(memory, KINDS, 256);
  for (let byte = 0; byte <= LAST_ASCII; byte += 1) {
    const letter = String.fromCharCode(byte);
    for (const [pattern, bit] of PATTERNS) if (pattern.test(letter)) kinds[byte] = (kinds[byte] ?? 0) | bit;
  }
}
