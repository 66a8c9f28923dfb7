import { scanWords } from '../../retrieval/tokenizer/scanWords.ts';
import { WordAnalyzer } from '../../retrieval/tokenizer/words.ts';

/** A word in a text that matches a query: its line and its columns, from 0. */
export interface Highlight {
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

/** The words of a query, and the prefixes of words that are still being typed. */
export interface AskedWords {
  readonly text: string;
  readonly prefixes: readonly string[];
}

/** Finds the words of a query in its results with the search's own tokenizer, so `parsing` matches `parseConfig`. */
export class Highlighter {
  readonly #analyzer = new WordAnalyzer();
  readonly #terms: ReadonlySet<string>;
  readonly #prefixes: readonly string[];

  constructor({ text, prefixes }: AskedWords) {
    this.#terms = new Set(this.#analyzer.queryTerms(text));
    this.#prefixes = prefixes.map((prefix) => prefix.toLowerCase());
  }

  /** The words in a text that match the query, in order. */
  find(text: string): readonly Highlight[] {
    return this.#findTerms(text).map(({ line, start, end }) => ({ line, start, end }));
  }

  /** The line with the most terms of the query, from 0; the first line with a word if no line matches. */
  bestLine(text: string): number {
    const termsOfLines = new Map<number, Set<string>>();
    for (const { line, terms } of this.#findTerms(text)) {
      const known = termsOfLines.get(line) ?? new Set();
      for (const term of terms) known.add(term);
      termsOfLines.set(line, known);
    }
    let best: { readonly line: number; readonly count: number } | undefined;
    for (const [line, { size: count }] of termsOfLines) {
      if (best === undefined || count > best.count) best = { line, count };
    }
    return (
      best?.line ??
      Math.max(
        0,
        text.split('\n').findIndex((line) => /\w/.test(line)),
      )
    );
  }

  #findTerms(text: string): (Highlight & { readonly terms: readonly string[] })[] {
    return text.split('\n').flatMap((lineText, line) => {
      const found: (Highlight & { readonly terms: readonly string[] })[] = [];
      scanWords(lineText, (word, start) => {
        const terms = this.#askedTerms(word);
        if (terms.length > 0) found.push({ line, start, end: start + word.length, terms });
      });
      return found;
    });
  }

  #askedTerms(word: string): readonly string[] {
    const lower = word.toLowerCase();
    const begun = this.#prefixes.filter((prefix) => lower.startsWith(prefix));
    const terms = this.#analyzer.termsOf(word);
    const asked = terms.filter((term) => this.#terms.has(term));
    const parts = this.#prefixes.filter((prefix) => terms.some((term) => term.startsWith(prefix)));
    return [...asked, ...begun, ...parts];
  }
}
