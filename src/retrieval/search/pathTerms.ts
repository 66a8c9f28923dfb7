import { type FileRole, roleOf } from './roles.ts';
import { scanWords } from '../tokenizer/scanWords.ts';
import { hasJoinedWords, type WordAnalyzer } from '../tokenizer/wordAnalyzer.ts';

/** The terms in a path that describe its file. */
export interface AnalyzedPath {
  /** The terms of the file's name, without what follows its first dot. */
  readonly name: readonly string[];
  /** The terms of the folder that contains it. */
  readonly folder: readonly string[];
  readonly role: FileRole;
}

// The names of these files are generic; the name of their folder describes them.
const NAMELESS = /^(?:index|mod|__init__|main|lib)$/i;
// `01-intro`, `2.txt`: numbers that order files do not describe them.
const NUMBER = /^\d{1,2}$/;
const MOST_KNOWN = 20_000;

/** Analyses the paths of results. Each takes longer than scoring a file, so that they are kept. */
export class PathAnalyzer {
  readonly #analyzer: WordAnalyzer;
  readonly #known = new Map<string, AnalyzedPath>();

  constructor(analyzer: WordAnalyzer) {
    this.#analyzer = analyzer;
  }

  analyze(path: string): AnalyzedPath {
    let analyzed = this.#known.get(path);
    if (analyzed !== undefined) return analyzed;
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    const names = path.split('/');
    const last = names.at(-1) ?? '';
    const dot = last.indexOf('.', 1);
    const stem = dot < 0 ? last : last.slice(0, dot);
    const folder = names.at(-2) ?? '';
    const [telling, other] = NAMELESS.test(stem) ? [folder, stem] : [stem, folder];
    analyzed = { name: this.termsOf(telling), folder: this.termsOf(other), role: roleOf(path) };
    this.#known.set(path, analyzed);
    return analyzed;
  }

  /** The terms of a file's, folder's or definition's name, each once; of a name in parts only those of its parts. */
  termsOf(name: string): readonly string[] {
    const terms = new Set<string>();
    scanWords(name, (word) => {
      const all = this.#analyzer.termsOf(word);
      const parts = all.length > 1 && !hasJoinedWords(word) ? all.slice(1) : all;
      for (const term of parts) if (!NUMBER.test(term)) terms.add(term);
    });
    return [...terms];
  }
}

const LEAST_PREFIX = 3;
// The end of a part is a word too, as in `autovacuum`; with three letters it often is none.
const LEAST_SUFFIX = 4;

interface NameQuery {
  readonly terms: readonly string[];
  /** The weight of each term. */
  readonly weights: readonly number[];
  /** How distinctive each term is in a name, from 0 to 1. */
  readonly rarities?: readonly number[];
}

/**
 * How well a name matches a query: the share of the query's terms that are in the name (or begin with a part of it, or are the beginning or
 * the end of one), times the share of the name that they make up. For half of the first share, each term counts by its weight.
 *
 * @param enclosing the terms of what encloses the name, in which the query's terms count as well.
 */
export function likeness(
  { terms, weights, rarities = [] }: NameQuery,
  names: readonly string[],
  enclosing: readonly string[] = [],
): number {
  if (terms.length === 0 || names.length === 0) return 0;
  let [count, weight, total] = [0, 0, 0];
  const matched = new Set<string>();
  for (const [at, term] of terms.entries()) {
    const termWeight = weights[at] ?? 0;
    total += termWeight;
    const name = names.find((part) => isSimilar(term, part));
    if (name === undefined && !enclosing.some((part) => isSimilar(term, part))) continue;
    const part = name === undefined ? 1 : (rarities[at] ?? 1);
    count += part;
    weight += part * termWeight;
    if (name !== undefined) matched.add(name);
  }
  const share = (count / terms.length + (total === 0 ? 0 : weight / total)) / 2;
  return share * (matched.size / names.length);
}

/** How distinctive each term is in one of these names, from 0 to 1: the more of them have it, the less. */
export function raritiesIn(terms: readonly string[], names: readonly (readonly string[])[]): readonly number[] {
  return terms.map((term) => {
    const holders = names.filter((parts) => parts.some((part) => isSimilar(term, part))).length;
    return 1 / Math.sqrt(Math.max(1, holders));
  });
}

function isSimilar(one: string, other: string): boolean {
  if (one === other) return true;
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one];
  if (longer.startsWith(shorter)) return shorter.length >= LEAST_PREFIX;
  return shorter.length >= LEAST_SUFFIX && longer.endsWith(shorter);
}
