import { definitionTerm, otherDefinitionTerm } from '../tokenizer/definitionTerm.ts';
import { isStopWord } from '../tokenizer/words.ts';

/** The term of a definition, whose weight is multiplied by a factor. */
export interface DefinitionQuery {
  readonly term: string;
  readonly factor: number;
  /** Whether it is what the whole query names, in the same case. */
  readonly isExact: boolean;
}

// How much more than its rarity a definition counts: the one that a query names, and one of several that it mentions.
const NAMED = 3;
const MENTIONED = 1.5;
// A name with another first letter (`Retry` and `retry`) is probably another one.
const OTHER_CASE = 0.4;
const MOST_WORDS = 6;
const MOST_CHARACTERS = 200;
const MOST_TERMS = 24;
// An identifier by its form: `retryDelay`, `RetryDelay`, `retry_delay`, `retry()`, and the parts of `Net::Retry`, `net.retry`.
const IDENTIFIER = /[\p{L}_$][\p{L}\p{N}_$]*(?:(?:::|->|[.#\\])[\p{L}_$][\p{L}\p{N}_$]*)*(?:\(\))?/gu;
const IS_MARKED = /\p{Ll}\p{Lu}|[\p{L}\p{N}]_\p{L}|::|->|\(\)$/u;
const QUALIFIER = /::|->|[.#\\]/;
// Longer text is pasted, and its start says enough.
const MOST_READ = 4000;

/** The terms of the definitions that a query names: as a whole, in its words together, or by identifiers in a sentence. */
export function definitionTerms(text: string): readonly DefinitionQuery[] {
  const factors = new Map<string, number>();
  const offer = (term: string | undefined, factor: number): void => {
    if (term !== undefined && (factors.get(term) ?? 0) < factor) factors.set(term, factor);
  };
  const add = (name: string, factor: number): void => {
    offer(definitionTerm(name), factor);
    offer(otherDefinitionTerm(name), factor * OTHER_CASE);
  };
  const read = text.slice(0, MOST_READ).trim();
  const words = read.split(/\s+/);
  if (read.length <= MOST_CHARACTERS && words.length <= MOST_WORDS && !words.every(isStopWord)) add(read, NAMED);
  for (const [name] of read.matchAll(IDENTIFIER)) {
    if (factors.size >= MOST_TERMS) break;
    const parts = name.replace('()', '').split(QUALIFIER);
    if (parts.length > 1 || IS_MARKED.test(name)) add(parts.at(-1) ?? '', words.length === 1 ? NAMED : MENTIONED);
  }
  return [...factors].map(([term, factor]) => ({ term, factor, isExact: factor === NAMED }));
}
