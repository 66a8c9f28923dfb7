import { PathFilter } from './pathFilter.ts';
import { scanWords } from '../tokenizer/scanWords.ts';

/** What is searched for. */
export interface Query {
  /** The text whose words rank what is found, that of phrases and of prefixes with it. */
  readonly text: string;
  /** Words of which the end is not there yet. */
  readonly prefixes: readonly string[];
  /** Texts whose words must follow each other in what is found. */
  readonly phrases: readonly string[];
  /** The files that what is found may come from. */
  readonly paths: PathFilter;
}

interface QueryOptions {
  /** Whether the last word is being typed: then it stands for all words that begin with it. */
  readonly isTyping?: boolean;
}

// A filter with its value, quoted or not; a phrase; or what has no blank in it.
const PARTS = /(?<!\S)(-?)(path|lang):(?:"([^"]*)"|([^\s"]+))|"([^"]*)"|[^\s"]+|"/g;

/**
 * Reads a query as a person types it: words, `half*` words, `"quoted phrases"`, and the filters `path:` and `lang:`, each with a
 * `-` before it for what is not wanted. Whatever looks like none of these is words; no text is an error.
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

/** A query of nothing but words, for text that nobody typed as a query: quotes and colons in it mean nothing. */
export function plainQuery(text: string): Query {
  return { text, prefixes: [], phrases: [], paths: PathFilter.ALL };
}

/** The word under the cursor, where the query ends in one that is no filter's and stands in no closed quotes. */
function typedWord(text: string, words: readonly string[]): readonly string[] {
  const last = words.at(-1) ?? '';
  return last !== '' && text.endsWith(last) ? endingWord(last) : [];
}

/** The word that a text ends in. */
function endingWord(text: string): readonly string[] {
  const last = lastWord(text);
  return last !== undefined && text.endsWith(last) ? [last] : [];
}

function lastWord(text: string): string | undefined {
  let last: string | undefined;
  scanWords(text, (word) => (last = word));
  return last;
}
