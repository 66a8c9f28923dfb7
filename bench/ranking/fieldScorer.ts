import { basename, dirname } from 'node:path';
import { TopK } from '../../src/retrieval/search/topK.ts';
import { summariesOf } from '../../src/retrieval/chunks/summaries.ts';
import { scanWords } from '../../src/retrieval/tokenizer/scanWords.ts';
import { WordAnalyzer } from '../../src/retrieval/tokenizer/wordAnalyzer.ts';
import type { Search } from './quality.ts';
import type { QuerySet } from './querySet.ts';

const FIELDS = ['body', 'symbol', 'scope', 'name', 'path', 'summary'] as const;

/** What is tried: how often a word of each field counts, and the numbers of BM25. */
export interface Weights {
  readonly body: number;
  readonly symbol: number;
  readonly scope: number;
  /** The name of the file. */
  readonly name: number;
  /** The folders that it lies in. */
  readonly path: number;
  /** The first paragraph of a comment that describes a definition, beside its place in the body. */
  readonly summary: number;
  readonly k1: number;
  readonly b: number;
}

interface Postings {
  readonly documents: number[];
  /** For each document as many as there are fields, in the order of `FIELDS`. */
  readonly counts: number[];
}

/** BM25 over fields with any weights, slow and plain, with the analysis that is shipped. It knows the words of its set's queries alone. */
export class FieldScorer {
  readonly #analyzer = new WordAnalyzer();
  readonly #postings = new Map<string, Postings>();
  readonly #lengths: number[] = [];
  #words = 0;

  constructor({ chunks, queries }: QuerySet) {
    for (const { text } of queries)
      for (const term of this.#analyzer.queryTerms(text)) this.#postings.set(term, { documents: [], counts: [] });
    for (const [document, { text, symbols, scope, source }] of chunks.entries()) {
      const counts = new Map<string, Uint16Array>();
      const length = this.#count(counts, text, 0);
      for (const [field, part] of [
        [...symbols],
        [...scope],
        [basename(source)],
        [dirname(source)],
        summariesOf(text),
      ].entries()) {
        for (const words of part) this.#count(counts, words, field + 1);
      }
      for (const [term, own] of counts) {
        const list = this.#postings.get(term);
        list?.documents.push(document);
        list?.counts.push(...own);
      }
      this.#lengths.push(length);
      this.#words += length;
    }
  }

  search(weights: Weights): Search {
    const documents = this.#lengths.length;
    const average = this.#words / documents;
    const { k1, b } = weights;
    const factors = FIELDS.map((field) => weights[field]);
    return (query, limit) => {
      const scores = new Float64Array(documents);
      const touched: number[] = [];
      for (const term of this.#analyzer.queryTerms(query)) {
        const { documents: holders = [], counts = [] } = this.#postings.get(term) ?? {};
        const idf = Math.log(1 + (documents - holders.length + 0.5) / (holders.length + 0.5));
        let at = 0;
        for (const document of holders) {
          let frequency = 0;
          for (const factor of factors) frequency += factor * (counts[at++] ?? 0);
          const norm = k1 * (1 - b + (b * (this.#lengths[document] ?? 0)) / average);
          if (scores[document] === 0) touched.push(document);
          scores[document] = (scores[document] ?? 0) + (idf * (k1 + 1) * frequency) / (frequency + norm);
        }
      }
      const best = new TopK<number>(limit, (x, y) => x - y);
      for (const document of touched) {
        const score = scores[document] ?? 0;
        if (score >= best.threshold) best.offer(document, score);
      }
      return best.sorted().map(({ item }) => item);
    };
  }

  #count(counts: Map<string, Uint16Array>, text: string, field: number): number {
    let length = 0;
    scanWords(text, (word) => {
      const terms = this.#analyzer.termsOf(word);
      if (terms.length > 0) length += 1;
      for (const term of terms) {
        if (!this.#postings.has(term)) continue;
        let own = counts.get(term);
        if (own === undefined) counts.set(term, (own = new Uint16Array(FIELDS.length)));
        own[field] = (own[field] ?? 0) + 1;
      }
    });
    return length;
  }
}
