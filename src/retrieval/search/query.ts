import { fileMentions } from './fileMentions.ts';
import { PathFilter } from './pathFilter.ts';
import { scanWords } from '../tokenizer/scanWords.ts';

/** A parsed query. */
export interface Query {
  /** The text whose words rank the results, including those of phrases and prefixes. */
  readonly text: string;
  /** Incomplete words. */
  readonly prefixes: readonly string[];
  /** The prefix that is still being typed, and may be complete. */
  readonly typed?: string | undefined;
  /** Texts whose words must be consecutive in the results. */
  readonly phrases: readonly string[];
  /** Words that the results do not contain. */
  readonly excluded: readonly string[];
  /** Limits the files of the results. */
  readonly paths: PathFilter;
}

interface QueryOptions {
  /** Whether the last word is still being typed, so that it matches all words that begin with it. */
  readonly isTyping?: boolean;
}

// A filter with its value, quoted or not; an excluded word; a phrase; or a run without spaces.
const PARTS =
  /(?<!\S)(-?)(path|lang):(?:"([^"]*)"|([^\s"]+))|(?<=\S\s)-([\p{L}_$][\p{L}\p{N}\p{M}_$]*)(?!\S)|"([^"]*)"|[^\s"]+|"/gu;
// Text that reads like a program's message, in which quotes do not mark a phrase.
const MESSAGE =
  /\b(?:errors?|exception|warning|panic(?:ked)?|fatal|failed|cannot|can't|could not|traceback|undefined)\b/i;
const MOST_SEARCHED = 8;
// A message has more words than a search with a phrase.
const LEAST_IN_MESSAGE = 4;

/**
 * Parses a user's query: words, `prefix*`, `"quoted phrases"`, `-excluded` words, and the filters `path:` and `lang:`, each excluded by
 * a `-` before it. Everything else is treated as words, so that no query is an error. Quotes in a pasted message, and around a path,
 * make no phrase.
 */
export function parseQuery(text: string, { isTyping = false }: QueryOptions = {}): Query {
  const words: string[] = [];
  const prefixes: string[] = [];
  const phrases: string[] = [];
  const excluded: string[] = [];
  let paths = PathFilter.ALL;
  for (const [whole, minus, field, quotedValue, value, unwanted, phrase] of text.matchAll(PARTS)) {
    if (field !== undefined) {
      const isWanted = minus !== '-';
      const filter = quotedValue ?? value ?? '';
      paths = field === 'path' ? paths.withPath(filter, isWanted) : paths.withLanguage(filter, isWanted);
      continue;
    }
    if (unwanted !== undefined) {
      excluded.push(unwanted);
      continue;
    }
    words.push(phrase ?? whole);
    if (phrase !== undefined && lastWord(phrase) !== undefined && fileMentions(phrase).length === 0)
      phrases.push(phrase);
    const prefix = phrase === undefined && whole.endsWith('*') ? endingWord(whole.replace(/\*+$/, '')) : undefined;
    if (prefix !== undefined) prefixes.push(prefix);
  }
  const typed = isTyping ? typedWord(text, words) : undefined;
  if (typed !== undefined) prefixes.push(typed);
  const ranking = words.length === 0 ? excluded : words;
  return {
    text: ranking.join(' '),
    prefixes: [...new Set(prefixes)],
    typed,
    phrases: isMessage(text, words.length - phrases.length) ? [] : phrases,
    excluded: ranking === excluded ? [] : excluded,
    paths,
  };
}

/** A query of words only, for text that is not a user's query: quotes and colons have no meaning. */
export function plainQuery(text: string): Query {
  return { text, prefixes: [], phrases: [], excluded: [], paths: PathFilter.ALL };
}

function isMessage(text: string, unquoted: number): boolean {
  return unquoted > MOST_SEARCHED || text.includes('\n') || (unquoted >= LEAST_IN_MESSAGE && MESSAGE.test(text));
}

/** The word at the cursor, if the query ends in a word that is neither part of a filter nor of a closed phrase. */
function typedWord(text: string, words: readonly string[]): string | undefined {
  const last = words.at(-1) ?? '';
  return last !== '' && text.endsWith(last) ? endingWord(last) : undefined;
}

/** The last word of a text, if the text ends with it. */
function endingWord(text: string): string | undefined {
  const last = lastWord(text);
  return last !== undefined && text.endsWith(last) ? last : undefined;
}

function lastWord(text: string): string | undefined {
  let last: string | undefined;
  scanWords(text, (word) => (last = word));
  return last;
}
