import { foldLetters } from './foldLetters.ts';
import { scanWords } from './scanWords.ts';
import { isStopWord } from './stopWords.ts';
import { MAX_WORD, TERM_PADDING } from '../kernel/assembly/kernelLayout.ts';
import { GrowableBuffer, KernelMemory } from './kernelMemory.ts';

const NO_PARTS: readonly string[] = [];
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const CJK_RUNS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;
// A case change (fooBar, HTTPServer), the start or end of digits, or a separator.
const ONE_PART = /^(?:\p{Lu}(?=\p{Ll}))?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+$/u;
const PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu;
const POSSESSIVE = /(?<=\p{L})['’]s(?![\p{L}\p{N}_$])/gu;

// The endings that Porter's stemmer removes, completely or in part.
const ENDINGS =
  'ational ization ousness iveness fulness tional alism ation ement iviti aliti biliti icate ative alize iciti able ible ance ence ment ness enci anci izer abli alli entli ousli ator ical ing ies ion ism ate iti ous ive ize ity ful ant ent al er ic ed es ly y s e'.split(
    ' ',
  );
const LONGEST_ENDING = 7;
const LEAST_STEM = 2;

/**
 * Splits words into index terms: identifiers whole and in parts (camelCase, snake_case, digits), each by its Porter stem, and Chinese,
 * Japanese and Korean in character pairs. Documents and queries are analysed in the same way.
 */
export class WordAnalyzer {
  readonly #stemmer = new Stemmer();

  /** The distinct terms of a text. */
  allTerms(text: string): readonly string[] {
    const terms = new Set<string>();
    scanWords(text, (word) => {
      for (const term of this.termsOf(word)) terms.add(term);
    });
    return [...terms];
  }

  /**
   * The stems of English words that begin with a prefix, if these may be shorter than the prefix: `relat` for `relationa`. The prefix
   * then ends within a removable ending.
   */
  stemsFrom(half: string): readonly string[] {
    const word = half.toLowerCase();
    if (word.length > MAX_WORD) return [];
    const stems = new Set(this.termsOf(half));
    for (let cut = Math.max(LEAST_STEM, word.length - LONGEST_ENDING); cut <= word.length; cut += 1) {
      const [root, rest] = [word.slice(0, cut), word.slice(cut)];
      for (const ending of ENDINGS) if (ending.startsWith(rest)) stems.add(this.#stemmer.stem(root + ending));
    }
    return [...stems];
  }

  /** The distinct terms of a query, without stop words unless it consists of nothing else. */
  queryTerms(query: string): readonly string[] {
    const all = new Set<string>();
    const telling = new Set<string>();
    scanWords(withoutPossessives(query), (word) => {
      for (const term of this.termsOf(word)) {
        all.add(term);
        if (!isStopWord(word)) telling.add(term);
      }
    });
    return [...(telling.size > 0 ? telling : all)];
  }

  /** The term of a word as a whole; undefined if it has none. */
  wholeTerm(word: string): string | undefined {
    const [whole] = partsOf(word);
    return whole === undefined ? undefined : this.#stemmer.stem(whole);
  }

  termsOf(word: string): readonly string[] {
    return [...new Set(partsOf(word).map((part) => this.#stemmer.stem(part)))];
  }
}

/** A text without the `'s` of possessives. */
export function withoutPossessives(text: string): string {
  return text.replaceAll(POSSESSIVE, '');
}

/** The parts of a word whose stems are its terms, in lower case: the whole word, and its parts if there are several. */
export function partsOf(written: string): readonly string[] {
  const word = foldLetters(written);
  if (CJK.test(word)) {
    const runs = word.match(CJK_RUNS) ?? [];
    return runs.flatMap((run) => (CJK.test(run) ? pairs(run) : partsOf(run)));
  }
  if (word.length > MAX_WORD) return NO_PARTS;
  if (ONE_PART.test(word)) return [word.toLowerCase()];
  const parts = word.match(PARTS) ?? [];
  const whole = word.replaceAll(/^[_$]+|[_$]+$/g, '');
  if (whole === '') return NO_PARTS;
  return [whole, ...(parts.length > 1 ? parts : [])].map((part) => part.toLowerCase());
}

/** Whether a word is in a script that does not separate words, so that it may consist of several. */
export function hasJoinedWords(word: string): boolean {
  return CJK.test(word);
}

function pairs(word: string): readonly string[] {
  const characters = Array.from(word);
  if (characters.length === 1) return characters;
  return [...new Set(characters.slice(1).map((character, index) => `${characters[index]}${character}`))];
}

/** Stems single words with the kernel that is used for indexing. */
export class Stemmer {
  readonly #memory = new KernelMemory();
  readonly #word = new GrowableBuffer(this.#memory);
  readonly #spans = new GrowableBuffer(this.#memory);

  constructor() {
    this.#word.reserve(TERM_PADDING + MAX_WORD + TERM_PADDING);
    this.#spans.reserve(8);
  }

  /** The Porter stem of a lower-case word; a word longer than 64 bytes in UTF-8 stays unchanged. */
  stem(word: string): string {
    if (Buffer.byteLength(word) > MAX_WORD) return word;
    const { bytes, numbers, kernel } = this.#memory;
    const start = this.#word.address + TERM_PADDING;
    const spans = this.#spans.address;
    numbers[spans / 4] = start;
    numbers[spans / 4 + 1] = start + bytes.write(word, start);
    kernel.stemTerms(spans, spans + 8);
    return bytes.toString('utf8', start, numbers[spans / 4 + 1]);
  }
}
