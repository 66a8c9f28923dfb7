import lunr from 'lunr';

const MAX_WORD = 64; // longer runs are hashes, keys and encoded data
const NO_TERMS: readonly string[] = [];
const NON_ASCII_WORD = /[\p{L}\p{N}\p{M}]/u;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const CJK_RUNS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;
// A case change (fooBar, HTTPServer), a digit border, or a separator.
const PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu;
const UNDERSCORE = 95;
const DOLLAR = 36;

/**
 * Splits text into words and words into index terms: identifiers whole and in parts (camelCase, snake_case, digits), each by
 * its Porter stem, and Chinese, Japanese and Korean by pairs of characters. The same analysis serves documents and queries.
 *
 * Terms are remembered per word, so a stem is computed once for each distinct word and not for each of its uses.
 */
export class WordAnalyzer {
  readonly #terms = new Map<string, readonly string[]>();
  readonly #stems = new Map<string, string>();

  /** Calls `visit` with each word, in order. */
  forEachWord(text: string, visit: (word: string) => void): void {
    let start = -1;
    for (let at = 0; at <= text.length; at += 1) {
      const isWord = at < text.length && isWordCode(text.charCodeAt(at), text, at);
      if (isWord && start < 0) start = at;
      if (!isWord && start >= 0) {
        visit(text.slice(start, at));
        start = -1;
      }
    }
  }

  /** The distinct terms of a query, without stop words unless it has nothing else. */
  queryTerms(query: string): readonly string[] {
    const all = new Set<string>();
    const telling = new Set<string>();
    this.forEachWord(query, (word) => {
      for (const term of this.termsOf(word)) {
        all.add(term);
        if (!isStopWord(word)) telling.add(term);
      }
    });
    return [...(telling.size > 0 ? telling : all)];
  }

  termsOf(word: string): readonly string[] {
    const known = this.#terms.get(word);
    if (known !== undefined) return known;
    const terms = word.length > MAX_WORD ? NO_TERMS : this.#analyze(word);
    this.#terms.set(word, terms);
    return terms;
  }

  #analyze(word: string): readonly string[] {
    if (CJK.test(word)) {
      const runs = word.match(CJK_RUNS) ?? [];
      return [...new Set(runs.flatMap((run) => (CJK.test(run) ? pairs(run) : this.termsOf(run))))];
    }
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

function isWordCode(code: number, text: string, at: number): boolean {
  if (code < 128) {
    const lower = code | 32;
    return (lower >= 97 && lower <= 122) || (code >= 48 && code <= 57) || code === UNDERSCORE || code === DOLLAR;
  }
  // A low surrogate belongs to the character before it.
  if (code >= 0xdc00 && code <= 0xdfff) return at > 0 && isAstralWord(text, at - 1);
  if (code >= 0xd800 && code <= 0xdbff) return isAstralWord(text, at);
  return NON_ASCII_WORD.test(text.charAt(at));
}

function isAstralWord(text: string, at: number): boolean {
  const point = text.codePointAt(at);
  return point !== undefined && point > 0xffff && NON_ASCII_WORD.test(String.fromCodePoint(point));
}

function pairs(word: string): readonly string[] {
  const characters = Array.from(word);
  if (characters.length === 1) return characters;
  return [...new Set(characters.slice(1).map((character, index) => `${characters[index]}${character}`))];
}
