import { foldLetters } from './foldLetters.ts';
import { isFrequentWord, PROSE_LANGUAGES, type ProseLanguage } from './proseLanguages.ts';
import { scanWords } from './scanWords.ts';

// Letters with which no word begins or ends, as those around the names of definitions. Porter's stemmer removes nothing after the last.
const START = 'zqg';
const END = 'qzk';
// Identifiers and numbers have no inflections.
const IS_WORD = /^(?:\p{L}\p{Ll}+|\p{Lu}+)$/u;
const MOST_LETTERS = 40;

/** What is known of the terms of an index. */
interface KnownTerms {
  /** The number of documents with a term. */
  holdersOf(term: string): number;
}

/** A term that each chunk in a language has, so that a search can skip the language if there is none. */
export function languageTerm({ mark }: ProseLanguage): string {
  return `${START}${mark}${END}`;
}

/** The term of a word's stem in a language; undefined for frequent words, identifiers and numbers. */
function proseStemTerm(word: string, { mark, stem }: ProseLanguage): string | undefined {
  const composed = word.normalize('NFC');
  if (composed.length > MOST_LETTERS || !IS_WORD.test(composed)) return undefined;
  const lower = composed.toLowerCase();
  return isFrequentWord(lower) ? undefined : `${START}${mark}${foldLetters(stem(lower))}${END}`;
}

/** The terms of the stems of a text in order of its words, with spaces between them. */
export function proseStems(text: string, language: ProseLanguage): string {
  const terms: string[] = [];
  scanWords(text, (word) => {
    const term = proseStemTerm(word, language);
    if (term !== undefined) terms.push(term);
  });
  return terms.join(' ');
}

/** The terms of an index for the stems of words, in those languages in which it has prose. */
export function inflectionTerms(words: readonly string[], indexTerms: KnownTerms): readonly string[] {
  const languages = PROSE_LANGUAGES.filter((language) => indexTerms.holdersOf(languageTerm(language)) > 0);
  const terms = new Set<string>();
  for (const language of languages) {
    for (const word of words) {
      const term = proseStemTerm(word, language);
      if (term !== undefined && indexTerms.holdersOf(term) > 0) terms.add(term);
    }
  }
  return [...terms];
}
