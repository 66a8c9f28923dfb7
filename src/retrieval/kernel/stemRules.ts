import {
  DERIVED,
  ENDING,
  ENDING_MASK,
  FIRST_RULE,
  FORMED,
  LETTER_BITS,
  MODIFIED,
  NO_RULE,
  REPLACEMENT,
  REPLACEMENT_SIZE,
  RULE_BYTES,
  VOWELS,
} from './assembly/kernelLayout.ts';

const STEPS: readonly (readonly [number, string])[] = [
  [
    DERIVED,
    'ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize ation:ate ator:ate ' +
      'alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble logi:log',
  ],
  [MODIFIED, 'icate:ic ative: alize:al iciti:ic ical:ic ful: ness:'],
  [FORMED, 'al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ou: ism: ate: iti: ous: ive: ize:'],
];

/** An ending, and what replaces it. */
type Rule = readonly [ending: string, replacement: string];

/** Writes the rules to the kernel's memory. */
export function writeRules(memory: ArrayBuffer): void {
  const view = new DataView(memory);
  let at = FIRST_RULE;
  for (const [step, text] of STEPS) {
    for (let letter = 0; letter <= LETTER_BITS; letter += 1) view.setUint32(step + 4 * letter, NO_RULE, true);
    const rules = text.split(' ').map((rule): Rule => {
      const [ending = '', replacement = ''] = rule.split(':');
      return [ending, replacement];
    });
    const lastLetters = new Set(rules.map(([ending]) => ending.charCodeAt(ending.length - 1)));
    for (const letter of lastLetters) {
      const endings = rules.filter(([ending]) => ending.charCodeAt(ending.length - 1) === letter);
      view.setUint32(step + 4 * (letter & LETTER_BITS), at, true);
      // The longest ending first.
      for (const rule of endings.sort(([a], [b]) => b.length - a.length)) {
        writeRule(view, at, rule);
        at += RULE_BYTES;
      }
      at += 8; // zeros: no rule
    }
  }
}

function writeRule(view: DataView, at: number, [ending, replacement]: Rule): void {
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
