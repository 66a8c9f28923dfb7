import { relatedTerms } from '../search/relatedTerms.ts';
import { scanWords } from '../tokenizer/scanWords.ts';
import { WordAnalyzer } from '../tokenizer/wordAnalyzer.ts';

/** A word in a text that matches a query: its line and its columns, from 0. */
export interface Highlight {
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

/** The parts of a text that match a query. */
export interface TextMatches {
  /** The words that match the query or are related to it, in order. */
  readonly highlights: readonly Highlight[];
  /** The line with the most terms of the query and related ones, from 0; the first line with a word if no line matches. */
  readonly bestLine: number;
}

/** The words of a query, and the prefixes of words that are still being typed. */
export interface QueryWords {
  readonly text: string;
  readonly prefixes: readonly string[];
}

/** Finds the words of a query in its results with the search's own tokenizer, so `parsing` matches `parseConfig`. */
export class Highlighter {
  readonly #analyzer = new WordAnalyzer();
  /** How much a term counts: 1 for one of the query, and its similarity for a related one. */
  readonly #weights = new Map<string, number>();
  readonly #prefixes: readonly string[];

  constructor({ text, prefixes }: QueryWords) {
    const terms = this.#analyzer.queryTerms(text);
    for (const { term, similarity } of terms.flatMap(relatedTerms)) {
      this.#weights.set(term, Math.max(similarity, this.#weights.get(term) ?? 0));
    }
    for (const term of terms) this.#weights.set(term, 1);
    this.#prefixes = prefixes.map((prefix) => prefix.toLowerCase());
  }

  matchesOf(text: string): TextMatches {
    const highlights: Highlight[] = [];
    let best: { readonly line: number; readonly weight: number } | undefined;
    const lines = text.split('\n');
    for (const [line, lineText] of lines.entries()) {
      const lineTerms = new Set<string>();
      scanWords(lineText, (word, start) => {
        const terms = this.#matchingTerms(word);
        if (terms.length > 0) highlights.push({ line, start, end: start + word.length });
        for (const term of terms) lineTerms.add(term);
      });
      const weight = [...lineTerms].reduce((sum, term) => sum + (this.#weights.get(term) ?? 1), 0);
      if (weight > (best?.weight ?? 0)) best = { line, weight };
    }
    const firstLine = Math.max(
      0,
      lines.findIndex((line) => /\w/.test(line)),
    );
    return { highlights, bestLine: best?.line ?? firstLine };
  }

  #matchingTerms(word: string): readonly string[] {
    const lower = word.toLowerCase();
    const begun = this.#prefixes.filter((prefix) => lower.startsWith(prefix));
    const terms = this.#analyzer.termsOf(word);
    const whole = terms.filter((term) => this.#weights.has(term));
    const parts = this.#prefixes.filter((prefix) => terms.some((term) => term.startsWith(prefix)));
    return [...whole, ...begun, ...parts];
  }
}
