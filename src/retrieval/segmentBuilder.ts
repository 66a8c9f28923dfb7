import type { Chunk } from './chunk.ts';
import { DictionaryWriter } from './dictionary.ts';
import { PostingsWriter } from './postings.ts';
import type { Segment, SegmentSource, Source } from './segment.ts';
import { scanWords } from './scanWords.ts';
import { Triples } from './triples.ts';
import type { WordAnalyzer } from './words.ts';
import { WordTable } from './wordTable.ts';

// The name of a definition counts eight times, the words of its path and scope once. Weights do not add to the length,
// which is that of the text alone.
const SYMBOL_WEIGHT = 8;
const PATH_WEIGHT = 1;
const SCOPE_WEIGHT = 1;
const MAX_LENGTH = 0xffff;

/** Gathers the chunks of sources and makes a segment of them. */
export class SegmentBuilder {
  readonly #analyzer: WordAnalyzer;
  readonly #ids = new Map<string, number>();
  /** The term ids of each word. */
  readonly #words = new WordTable();
  readonly #terms: string[] = [];
  readonly #triples = new Triples();
  readonly #sources: SegmentSource[] = [];
  readonly #lengths: number[] = [];
  readonly #firstLines: number[] = [];
  readonly #lastLines: number[] = [];
  /** Of the document that is being read: how often it has each term, and which it has. */
  #counts = new Uint32Array(1024);
  #present = new Uint32Array(1024);
  #presentCount = 0;

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
    for (let at = 0; at < this.#presentCount; at += 1) {
      const id = this.#present[at] ?? 0;
      this.#triples.add(id, document, this.#counts[id] ?? 0);
      this.#counts[id] = 0;
    }
    this.#presentCount = 0;
    this.#lengths.push(Math.min(length, MAX_LENGTH));
    this.#firstLines.push(startLine);
    this.#lastLines.push(endLine);
  }

  /** Counts the terms of a text, and gives the number of its words. */
  #count(text: string, weight: number): number {
    const words = this.#words;
    let length = 0;
    scanWords(text, (start, end, hash) => {
      let entry = words.find(text, start, end, hash);
      if (entry < 0) entry = this.#addWord(text.slice(start, end), hash);
      const to = words.numbersTo(entry);
      let place = words.numbersFrom(entry);
      if (place < to) length += 1;
      for (; place < to; place += 1) this.#countTerm(words.numberAt(place), weight);
    });
    return length;
  }

  #countTerm(id: number, weight: number): void {
    const count = this.#counts[id] ?? 0;
    if (count === 0) this.#present[this.#presentCount++] = id;
    this.#counts[id] = count + weight;
  }

  #addWord(word: string, hash: number): number {
    const ids = this.#analyzer.termsOf(word).map((term) => this.#idOf(term));
    return this.#words.add(word, hash, ids);
  }

  #idOf(term: string): number {
    let id = this.#ids.get(term);
    if (id !== undefined) return id;
    id = this.#terms.length;
    this.#ids.set(term, id);
    this.#terms.push(term);
    if (id >= this.#counts.length) {
      const counts = new Uint32Array(this.#counts.length * 2);
      counts.set(this.#counts);
      this.#counts = counts;
      const present = new Uint32Array(counts.length);
      present.set(this.#present);
      this.#present = present;
    }
    return id;
  }
}
