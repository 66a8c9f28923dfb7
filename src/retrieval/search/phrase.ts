import { scanWords } from '../tokenizer/scanWords.ts';
import { hasJoinedWords } from '../tokenizer/words.ts';

// The index knows which chunks have all the words of a phrase, and their text whether they follow each other: so many times more
// of the best are looked at while too few of them have it.
export const PHRASE_GROWTH = 4;

/**
 * Whether the words of every phrase follow each other in a text; case and what is between the words do not matter. In scripts
 * that do not part words, a phrase may begin and end within a run of characters.
 */
export function holdsPhrases(text: string, phrases: readonly string[]): boolean {
  if (phrases.length === 0) return true;
  const words = wordsOf(text);
  return phrases.every((phrase) => {
    const wanted = wordsOf(phrase);
    return words.some((_, at) =>
      wanted.every((word, index) => isWordAt(words[at + index], word, index, wanted.length)),
    );
  });
}

function isWordAt(found: string | undefined, wanted: string, index: number, count: number): boolean {
  if (found === undefined || found === wanted || !hasJoinedWords(wanted)) return found === wanted;
  if (count === 1) return found.includes(wanted);
  if (index === 0) return found.endsWith(wanted);
  return index === count - 1 && found.startsWith(wanted);
}

function wordsOf(text: string): string[] {
  const words: string[] = [];
  scanWords(text, (word) => words.push(word.toLowerCase()));
  return words;
}
