import lunr from 'lunr';
import { scanWords } from './scanWords.ts';

const MAX_WORD = 64; // longer runs are hashes, keys and encoded data
// What is remembered must not grow with the folder; the common words come back soon.
const MAX_STEMS = 200_000;
const NO_TERMS: readonly string[] = [];
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const CJK_RUNS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;
// A case change (fooBar, HTTPServer), a digit border, or a separator.
const PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu;

/**
 * Splits words into index terms: identifiers whole and in parts (camelCase, snake_case, digits), each by
 * its Porter stem, and Chinese, Japanese and Korean by pairs of characters. The same analysis serves documents and queries.
 *
 * Stems are remembered, so that one is computed once for each distinct word and not for each of its uses.
 */
export class WordAnalyzer {
  readonly #stems = new Map<string, string>();

  /** The distinct terms of a query, without stop words unless it has nothing else. */
  queryTerms(query: string): readonly string[] {
    const all = new Set<string>();
    const telling = new Set<string>();
    scanWords(query, (start, end) => {
      const word = query.slice(start, end);
      for (const term of this.termsOf(word)) {
        all.add(term);
        if (!isStopWord(word)) telling.add(term);
      }
    });
    return [...(telling.size > 0 ? telling : all)];
  }

  termsOf(word: string): readonly string[] {
    if (CJK.test(word)) {
      const runs = word.match(CJK_RUNS) ?? [];
      return [...new Set(runs.flatMap((run) => (CJK.test(run) ? pairs(run) : this.termsOf(run))))];
    }
    if (word.length > MAX_WORD) return NO_TERMS;
    const parts = word.match(PARTS) ?? [];
    const whole = word.replaceAll(/^[_$]+|[_$]+$/g, '');
    if (whole === '') return NO_TERMS;
    const terms = [whole, ...(parts.length > 1 ? parts : [])].map((part) => this.#stem(part.toLowerCase()));
    return [...new Set(terms)];
  }

  #stem(word: string): string {
    let stem = this.#stems.get(word);
    if (stem === undefined) {
      stem = lunr.stemmer(new lunr.Token(word, {})).toString();
      if (this.#stems.size >= MAX_STEMS) this.#stems.clear();
      this.#stems.set(word, stem);
    }
    return stem;
  }
}

/** Whether a word is so common in English prose that it tells nothing in a query. */
function isStopWord(word: string): boolean {
  const token = new lunr.Token(word.toLowerCase(), {});
  return (lunr.stopWordFilter(token) as lunr.Token | undefined) === undefined;
}

function pairs(word: string): readonly string[] {
  const characters = Array.from(word);
  if (characters.length === 1) return characters;
  return [...new Set(characters.slice(1).map((character, index) => `${characters[index]}${character}`))];
}
