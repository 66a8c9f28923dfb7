import type { Random } from '../../test/random.ts';

const WORD = /[A-Za-z]{4,}/g;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** A text with one wrong, missing, additional or swapped letter in one of its words; undefined if all of them are short. */
export function misspell(text: string, random: Random): string | undefined {
  const below = (limit: number): number => Math.floor(random() * limit);
  const words = [...text.matchAll(WORD)];
  const word = words[below(words.length)];
  if (word === undefined) return undefined;
  const at = word.index + below(word[0].length - 1);
  const [letter = '', next = ''] = [text[at], text[at + 1]];
  const other = LETTERS[below(LETTERS.length)] ?? '';
  const written = [next + letter, other + next, next, letter + other + next][below(4)] ?? '';
  const misspelt = text.slice(0, at) + written + text.slice(at + 2);
  return misspelt === text ? misspell(text, random) : misspelt;
}
