import { RULES } from './kernelLayout.ts';

/** The steps of the stemmer that put other endings in place of some, and the addresses of their rules. */
export const DERIVED = RULES;
const STEP_BYTES = 4 * 32;
export const MODIFIED = DERIVED + STEP_BYTES;
export const FORMED = MODIFIED + STEP_BYTES;

/** Behind the last rule of a letter, whose endings have no letters. */
export const NO_RULE = FORMED + STEP_BYTES;
const FIRST_RULE = NO_RULE + 8;

// A step is, for each letter that an ending can have last, the address of its first rule. A rule is the numbers of letters of its
// ending and of what replaces it, the ending as the highest of eight bytes and which these are, what replaces it as the lowest of
// eight bytes, and a bit for each vowel of that.
export const REPLACEMENT_SIZE = 4;
export const ENDING = 8;
export const ENDING_MASK = 16;
export const REPLACEMENT = 24;
export const VOWELS = 32;
export const RULE_BYTES = 40;

const STEPS: readonly (readonly [number, string])[] = [
  [
    DERIVED,
    'ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize ation:ate ator:ate ' +
      'alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble logi:log',
  ],
  [MODIFIED, 'icate:ic ative: alize:al iciti:ic ical:ic ful: ness:'],
  [FORMED, 'al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ou: ism: ate: iti: ous: ive: ize:'],
];

/** The place of a letter in a step. */
export const LETTER_BITS = 31;

/** Writes the rules where the program looks for them. */
export function writeRules(memory: ArrayBuffer): void {
  const view = new DataView(memory);
  let at = FIRST_RULE;
  for (const [step, text] of STEPS) {
    for (let letter = 0; letter <= LETTER_BITS; letter += 1) view.setUint32(step + 4 * letter, NO_RULE, true);
    const rules = text.split(' ').map((rule) => rule.split(':') as [string, string]);
    const lastLetters = new Set(rules.map(([ending]) => ending.charCodeAt(ending.length - 1)));
    for (const letter of lastLetters) {
      const own = rules.filter(([ending]) => ending.charCodeAt(ending.length - 1) === letter);
      view.setUint32(step + 4 * (letter & LETTER_BITS), at, true);
      // The longest ending first.
      for (const rule of own.sort(([a], [b]) => b.length - a.length)) {
        writeRule(view, at, rule);
        at += RULE_BYTES;
      }
      at += 8; // zeros: no rule
    }
  }
}

function writeRule(view: DataView, at: number, [ending, replacement]: readonly [string, string]): void {
  view.setUint32(at, ending.length, true);
  view.setUint32(at + REPLACEMENT_SIZE, replacement.length, true);
  const unused = BigInt(8 * (8 - ending.length));
  view.setBigUint64(at + ENDING, numberOf(ending) << unused, true);
  view.setBigUint64(at + ENDING_MASK, ((1n << 64n) - 1n) & ~((1n << unused) - 1n), true);
  view.setBigUint64(at + REPLACEMENT, numberOf(replacement), true);
  const vowels = Array.from(replacement, (letter, index) => (/[aeiou]/.test(letter) ? 1 << index : 0));
  view.setBigUint64(at + VOWELS, BigInt(vowels.reduce((bits, bit) => bits | bit, 0)), true);
}

/** Up to eight letters as a number whose lowest byte is the first. */
function numberOf(letters: string): bigint {
  return Array.from(letters).reduceRight((number, letter) => (number << 8n) | BigInt(letter.charCodeAt(0)), 0n);
}
