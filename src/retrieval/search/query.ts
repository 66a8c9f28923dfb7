import { PathFilter } from './pathFilter.ts';
import { scanWords } from '../tokenizer/scanWords.ts';

/** A parsed query. */
export interface Query {
  /** The text whose words rank the results, including those of phrases and prefixes. */
  readonly text: string;
  /** Incomplete words. */
  readonly prefixes: readonly string[];
  /** Texts whose words must be consecutive in the results. */
  readonly phrases: readonly string[];
  /** Limits the files of the results. */
  readonly paths: PathFilter;
}

interface QueryOptions {
  /** Whether the last word is still being typed, so that it matches all words that begin with it. */
  readonly isTyping?: boolean;
}

// A filter with its value, quoted or not; a phrase; or a run without spaces.
const PARTS = /(?<!\S)(-?)(path|lang):(?:"([^"]*)"|([^\s"]+))|"([^"]*)"|[^\s"]+|"/g;

/**
 * Parses a user's query: words, `prefix*`, `"quoted phrases"`, and the filters `path:` and `lang:`, each excluded by a `-` before it.
 * Everything else is treated as words, so that no query is an error.
 */
export function parseQuery(text: string, { isTyping = false }: QueryOptions = {}): Query {
  const words: string[] = [];
  const prefixes: string[] = [];
  const phrases: string[] = [];
  let paths = PathFilter.ALL;
  for (const [whole, minus, field, quotedValue, value, phrase] of text.matchAll(PARTS)) {
    if (field !== undefined) {
      const isWanted = minus !== '-';
      const wanted = quotedValue ?? value ?? '';
      paths = field === 'path' ? paths.withPath(wanted, isWanted) : paths.withLanguage(wanted, isWanted);
      continue;
    }
    words.push(phrase ?? whole);
    if (phrase !== undefined && lastWord(phrase) !== undefined) phrases.push(phrase);
    if (phrase === undefined && whole.endsWith('*')) prefixes.push(...endingWord(whole.replace(/\*+$/, '')));
  }
  if (isTyping) prefixes.push(...typedWord(text, words));
  return { text: words.join(' '), prefixes: [...new Set(prefixes)], phrases, paths };
}

/** A query of words only, for text that is not a user's query: quotes and colons have no meaning. */
export function plainQuery(text: string): Query {
  return { text, prefixes: [], phrases: [], paths: PathFilter.ALL };
}

/** The word at the cursor, if the query ends in a word that is neither part of a filter nor of a closed phrase. */
function typedWord(text: string, words: readonly string[]): readonly string[] {
  const last = words.at(-1) ?? '';
  return last !== '' && text.endsWith(last) ? endingWord(last) : [];
}

/** The last word of a text. */
function endingWord(text: string): readonly string[] {
  const last = lastWord(text);
  return last !== undefined && text.endsWith(last) ? [last] : [];
}

function lastWord(text: string): string | undefined {
  let last: string | undefined;
  scanWords(text, (word) => (last = word));
  return last;
}
