// Letters by their codes: the words of a whole folder are stemmed, and strings would take ten times as long.
const A = 97;
const B = 98;
const D = 100;
const E = 101;
const G = 103;
const I = 105;
const L = 108;
const N = 110;
const O = 111;
const S = 115;
const T = 116;
const U = 117;
const W = 119;
const X = 120;
const Y = 121;
const Z = 122;

interface Rule {
  readonly ending: readonly number[];
  readonly replacement: readonly number[];
}

/** The rules of a step by the last letter of their endings, the longest ending first. */
type Step = readonly (readonly Rule[])[];

const DERIVED = step(
  'ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize ation:ate ator:ate ' +
    'alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble logi:log',
);
const MODIFIED = step('icate:ic ative: alize:al iciti:ic ical:ic ful: ness:');
const FORMED = step('al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize');
// The last letters of whatever a rule takes or changes: most words end in none of them.
const CHANGEABLE = new Uint8Array(128);
for (const code of codes('cdegilmnrstuy')) CHANGEABLE[code] = 1;

/**
 * Cuts a word of lower case, in UTF-8, to its stem, where it stands, and gives the new length (M. F. Porter, "An algorithm for suffix
 * stripping", 1980, with the departures that its author and lunr have: `bli`, `logi`, and a final `y` behind a consonant).
 * Whatever is no vowel counts as a consonant, digits and other scripts too.
 */
export function stem(word: Uint8Array, length: number): number {
  if (length < 3 || CHANGEABLE[word[length - 1] ?? 0] !== 1) return length;
  let end = withoutPlural(word, length);
  end = withoutPast(word, end);
  if (end > 2 && word[end - 1] === Y && !isVowel(word[end - 2])) word[end - 1] = I;
  end = replaceEnding(word, end, DERIVED, 1);
  end = replaceEnding(word, end, MODIFIED, 1);
  end = withoutSuffix(word, end);
  return withoutFinal(word, end);
}

function withoutPlural(word: Uint8Array, end: number): number {
  if (word[end - 1] !== S) return end;
  if (word[end - 2] === E) {
    if (end > 4 && word[end - 3] === S && word[end - 4] === S) return end - 2;
    if (end > 3 && word[end - 3] === I) return end - 2;
  }
  return end > 2 && word[end - 2] !== S ? end - 1 : end;
}

function withoutPast(word: Uint8Array, end: number): number {
  const isPast = word[end - 1] === D && word[end - 2] === E;
  if (isPast && end > 3 && word[end - 3] === E) return measure(word, end - 3) > 0 ? end - 1 : end;
  const isPresent = word[end - 1] === G && word[end - 2] === N && word[end - 3] === I;
  const cut = isPast ? end - 2 : isPresent ? end - 3 : 0;
  if (cut < 1 || !hasVowel(word, cut)) return end;
  const before = word[cut - 2];
  const last = word[cut - 1];
  const isClipped =
    cut > 1 && ((before === A && last === T) || (before === B && last === L) || (before === I && last === Z));
  if (!isClipped) {
    const isDouble = cut > 1 && before === last && !isVowelOrY(last) && last !== L && last !== S && last !== Z;
    if (isDouble) return cut - 1;
    if (!isShort(word, cut)) return cut;
  }
  word[cut] = E;
  return cut + 1;
}

/** Takes the longest ending that the word has, where what is before it measures as much. */
function replaceEnding(word: Uint8Array, end: number, rules: Step, least: number): number {
  const rule = ruleOf(word, end, rules);
  if (rule === undefined) return end;
  const cut = end - rule.ending.length;
  if (measure(word, cut) < least) return end;
  let at = cut;
  for (const code of rule.replacement) word[at++] = code;
  return at;
}

function withoutSuffix(word: Uint8Array, end: number): number {
  if (word[end - 1] !== N || word[end - 3] !== I || word[end - 2] !== O) return replaceEnding(word, end, FORMED, 2);
  const before = word[end - 4];
  return end > 4 && (before === S || before === T) && measure(word, end - 3) > 1 ? end - 3 : end;
}

function withoutFinal(word: Uint8Array, length: number): number {
  let end = length;
  if (end > 1 && word[end - 1] === E) {
    const size = measure(word, end - 1);
    if (size > 1 || (size === 1 && !isShort(word, end - 1))) end -= 1;
  }
  return end > 1 && word[end - 1] === L && word[end - 2] === L && measure(word, end) > 1 ? end - 1 : end;
}

function ruleOf(word: Uint8Array, end: number, rules: Step): Rule | undefined {
  const own = rules[word[end - 1] ?? 0];
  if (own === undefined) return undefined;
  for (const rule of own) {
    const from = end - rule.ending.length;
    if (from < 1) continue;
    let at = 0;
    while (at < rule.ending.length && word[from + at] === rule.ending[at]) at += 1;
    if (at === rule.ending.length) return rule;
  }
  return undefined;
}

/** How often vowels are followed by consonants. A `y` is a consonant at the start and behind a vowel. */
function measure(word: Uint8Array, end: number): number {
  let count = 0;
  let isInVowels = false;
  for (let at = 0; at < end; at += 1) {
    const code = word[at] ?? 0;
    if (isVowel(code)) {
      isInVowels = true;
    } else if (code === Y && at > 0 && !isInVowels) {
      isInVowels = true;
    } else if (isInVowels) {
      count += 1;
      isInVowels = false;
    }
  }
  return count;
}

function hasVowel(word: Uint8Array, end: number): boolean {
  for (let at = 0; at < end; at += 1) if (isVowel(word[at]) || (at > 0 && word[at] === Y)) return true;
  return false;
}

/** Consonants, one vowel, and a consonant that is not w, x or y. */
function isShort(word: Uint8Array, end: number): boolean {
  if (end < 3) return false;
  const last = word[end - 1];
  if (isVowelOrY(last) || last === W || last === X || !isVowelOrY(word[end - 2])) return false;
  for (let at = 0; at < end - 2; at += 1) {
    if (isVowel(word[at]) || (at > 0 && word[at] === Y)) return false;
  }
  return true;
}

function isVowel(code: number | undefined): boolean {
  return code === A || code === E || code === I || code === O || code === U;
}

function isVowelOrY(code: number | undefined): boolean {
  return code === Y || isVowel(code);
}

function step(rules: string): Step {
  const byLast: Rule[][] = [];
  for (const rule of rules.split(' ')) {
    const [ending = '', replacement = ''] = rule.split(':');
    (byLast[ending.charCodeAt(ending.length - 1)] ??= []).push({
      ending: codes(ending),
      replacement: codes(replacement),
    });
  }
  for (const own of byLast) own?.sort((a, b) => b.ending.length - a.ending.length);
  return byLast;
}

function codes(text: string): number[] {
  return Array.from(text, (letter) => letter.charCodeAt(0));
}
