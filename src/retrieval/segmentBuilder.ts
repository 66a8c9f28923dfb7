import type { Chunk } from './chunk.ts';
import { DictionaryWriter } from './dictionary.ts';
import { PostingsWriter } from './postings.ts';
import type { Segment, SegmentSource, Source } from './segment.ts';
import { Triples } from './triples.ts';
import type { WordAnalyzer } from './words.ts';

// The name of a definition counts eight times, the words of its path and scope once. Weights do not add to the length,
// which is that of the text alone.
const SYMBOL_WEIGHT = 8;
const PATH_WEIGHT = 1;
const SCOPE_WEIGHT = 1;
export const MAX_LENGTH = 0xffff;

/** Gathers the chunks of sources and makes a segment of them. */
export class SegmentBuilder {
  readonly #analyzer: WordAnalyzer;
  readonly #ids = new Map<string, number>();
  readonly #idsOfWords = new Map<string, readonly number[]>();
  readonly #terms: string[] = [];
  readonly #triples = new Triples();
  readonly #sources: SegmentSource[] = [];
  readonly #lengths: number[] = [];
  readonly #firstLines: number[] = [];
  readonly #lastLines: number[] = [];
  /** Of the document that is being read: how often it has each term, and which it has. */
  #counts = new Uint32Array(1024);
  #present: number[] = [];

  constructor(analyzer: WordAnalyzer) {
    this.#analyzer = analyzer;
  }

  get postingCount(): number {
    return this.#triples.length;
  }

  /** Adds a source with all of its chunks, which say that it is their source. */
  add(source: Source, chunks: readonly Chunk[]): void {
    this.#sources.push({ ...source, firstDocument: this.#lengths.length, documentCount: chunks.length });
    for (const chunk of chunks) this.#addChunk(chunk);
  }

  finish(): Segment {
    const order = this.#terms.toSorted();
    const ranks = new Uint32Array(order.length);
    for (const [rank, term] of order.entries()) ranks[this.#ids.get(term) ?? 0] = rank;
    const { offsets, ...postings } = this.#triples.byTerm(ranks);
    const lengths = Uint16Array.from(this.#lengths);
    const dictionary = new DictionaryWriter();
    const lists = new PostingsWriter();
    for (const [rank, term] of order.entries()) {
      const start = lists.length;
      lists.add(postings, offsets[rank] ?? 0, offsets[rank + 1] ?? 0, lengths);
      dictionary.add({ term, start, length: lists.length - start });
    }
    return {
      sources: this.#sources,
      lengths,
      firstLines: Uint32Array.from(this.#firstLines),
      lastLines: Uint32Array.from(this.#lastLines),
      dictionary: dictionary.finish(),
      postings: lists.finish(),
      postingCount: this.#triples.length,
    };
  }

  #addChunk({ text, source, symbols, scope, startLine, endLine }: Chunk): void {
    const document = this.#lengths.length;
    const length = this.#count(text, 1);
    for (const symbol of symbols) this.#count(symbol, SYMBOL_WEIGHT);
    for (const name of scope) this.#count(name, SCOPE_WEIGHT);
    this.#count(source, PATH_WEIGHT);
    for (const id of this.#present) {
      this.#triples.add(id, document, this.#counts[id] ?? 0);
      this.#counts[id] = 0;
    }
    this.#present = [];
    this.#lengths.push(Math.min(length, MAX_LENGTH));
    this.#firstLines.push(startLine);
    this.#lastLines.push(endLine);
  }

  /** Counts the terms of a text, and gives the number of its words. */
  #count(text: string, weight: number): number {
    let words = 0;
    this.#analyzer.forEachWord(text, (word) => {
      const ids = this.#idsOf(word);
      if (ids.length === 0) return;
      words += 1;
      for (const id of ids) {
        const count = this.#counts[id] ?? 0;
        if (count === 0) this.#present.push(id);
        this.#counts[id] = count + weight;
      }
    });
    return words;
  }

  #idsOf(word: string): readonly number[] {
    let ids = this.#idsOfWords.get(word);
    if (ids === undefined) {
      ids = this.#analyzer.termsOf(word).map((term) => this.#idOf(term));
      this.#idsOfWords.set(word, ids);
    }
    return ids;
  }

  #idOf(term: string): number {
    let id = this.#ids.get(term);
    if (id !== undefined) return id;
    id = this.#terms.length;
    this.#ids.set(term, id);
    this.#terms.push(term);
    if (id >= this.#counts.length) {
      const grown = new Uint32Array(this.#counts.length * 2);
      grown.set(this.#counts);
      this.#counts = grown;
    }
    return id;
  }
}
