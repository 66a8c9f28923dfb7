import { CLASSES } from './kernelLayout.ts';

// What a byte can be in a word, each a bit.
export const UPPER = 1;
export const LOWER = 2;
export const DIGIT = 4;
export const SEPARATOR = 8;
export const VOWEL = 16;
/** The last letters of whatever the stemmer takes or changes: most words end in none of them. */
export const CHANGEABLE = 32;

const KINDS: readonly (readonly [RegExp, number])[] = [
  [/[A-Z]/, UPPER],
  [/[a-z]/, LOWER],
  [/[0-9]/, DIGIT],
  [/[_$]/, SEPARATOR],
  [/[aeiou]/, VOWEL],
  [/[cdegilmnrstuy]/, CHANGEABLE],
];
const LAST_ASCII = 127;

/** Writes the bits of each byte, where the program looks for them. */
export function writeClasses(memory: ArrayBuffer): void {
  const classes = new Uint8Array(memory, CLASSES, 256);
  for (let byte = 0; byte <= LAST_ASCII; byte += 1) {
    const letter = String.fromCharCode(byte);
    for (const [pattern, bit] of KINDS) if (pattern.test(letter)) classes[byte] = (classes[byte] ?? 0) | bit;
  }
}
