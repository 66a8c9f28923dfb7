import { foldLetters } from '../tokenizer/foldLetters.ts';
import { scanWords } from '../tokenizer/scanWords.ts';
import { hasJoinedWords } from '../tokenizer/wordAnalyzer.ts';

// The index only knows which chunks contain all words of a phrase; their text shows whether the words are consecutive. If too few of
// the best chunks contain the phrase, this many times more are checked.
export const PHRASE_GROWTH = 4;

/**
 * Whether the words of every phrase are consecutive in a text, regardless of case and of the characters between them. In scripts that
 * do not separate words, a phrase may begin and end within a run of characters.
 */
export function holdsPhrases(text: string, phrases: readonly string[]): boolean {
  if (phrases.length === 0) return true;
  const words = wordsOf(text);
  return phrases.every((phrase) => {
    const phraseWords = wordsOf(phrase);
    return words.some((_, at) =>
      phraseWords.every((word, index) => isWordAt(words[at + index], word, index, phraseWords.length)),
    );
  });
}

function isWordAt(found: string | undefined, phraseWord: string, index: number, count: number): boolean {
  if (found === undefined || found === phraseWord || !hasJoinedWords(phraseWord)) return found === phraseWord;
  if (count === 1) return found.includes(phraseWord);
  if (index === 0) return found.endsWith(phraseWord);
  return index === count - 1 && found.startsWith(phraseWord);
}

function wordsOf(text: string): string[] {
  const words: string[] = [];
  scanWords(text, (word) => words.push(foldLetters(word).toLowerCase()));
  return words;
}
