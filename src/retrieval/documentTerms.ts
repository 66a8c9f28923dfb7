import type { Postings } from './postings.ts';
import type { Vocabulary } from './vocabulary.ts';
import { COUNT, FIRST, SECOND } from './wordTable.ts';

const MAX_FREQUENCY = 0xffff;
const LEAST_BLOCK = 1024;
const MOST_BLOCK = 1 << 18;

/** The postings of terms, one term behind the other, each ascending by document. */
export interface TermPostings extends Postings {
  /** Behind the last posting of each term, by its number. */
  readonly ends: Uint32Array;
}

/** Terms of documents, and how often each has them. */
interface Block {
  readonly terms: Uint32Array;
  readonly frequencies: Uint16Array;
}

/** Which terms each document has and how often, in typed arrays: objects would take ten times the memory. */
export class DocumentTerms {
  readonly #vocabulary: Vocabulary;
  /** Full blocks stay where they are: copying into a larger one costs as much as all of the counting. */
  readonly #blocks: Block[] = [];
  #used = 0;
  /** How many terms each document has. */
  readonly #sizes: number[] = [];
  /** Of the document that is added: how often it has each term, and the terms that it has. */
  #counts = new Uint32Array(1024);
  #present = new Uint32Array(1024);
  #presentCount = 0;
  /** How many documents have each term. */
  #holders = new Uint32Array(1024);
  postingCount = 0;

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** Makes a document of the words that the vocabulary has counted, which it forgets. */
  add(): void {
    this.#countTerms();
    const count = this.#presentCount;
    const { terms, frequencies } = this.#blockFor(count);
    const [counts, present, holders] = [this.#counts, this.#present, this.#holders];
    let to = this.#used;
    for (let at = 0; at < count; at += 1) {
      const term = present[at] ?? 0;
      terms[to] = term;
      frequencies[to] = Math.min(counts[term] ?? 0, MAX_FREQUENCY);
      counts[term] = 0;
      holders[term] = (holders[term] ?? 0) + 1;
      to += 1;
    }
    this.#used = to;
    this.postingCount += count;
    this.#sizes.push(count);
  }

  /** Turns them around: the documents of each term, the terms in the given order. */
  byTerm(order: Uint32Array): TermPostings {
    const next = new Uint32Array(order.length);
    let sum = 0;
    for (const term of order) {
      next[term] = sum;
      sum += this.#holders[term] ?? 0;
    }
    const documents = new Uint32Array(this.postingCount);
    const counts = new Uint16Array(this.postingCount);
    let document = 0;
    for (const [index, { terms, frequencies }] of this.#blocks.entries()) {
      const used = index === this.#blocks.length - 1 ? this.#used : terms.length;
      for (let at = 0; at < used; document += 1) {
        const end = at + (this.#sizes[document] ?? 0);
        for (; at < end; at += 1) {
          const term = terms[at] ?? 0;
          const to = next[term] ?? 0;
          documents[to] = document;
          counts[to] = frequencies[at] ?? 0;
          next[term] = to + 1;
        }
      }
    }
    return { documents, frequencies: counts, ends: next };
  }

  #countTerms(): void {
    const vocabulary = this.#vocabulary;
    const { lists, terms, counted, countedWords } = vocabulary;
    const { records } = vocabulary.words;
    if (terms.size >= this.#counts.length) this.#makeRoom(terms.size);
    const [counts, present] = [this.#counts, this.#present];
    let presentCount = 0;
    for (let index = 0; index < counted; index += 1) {
      const word = countedWords[index] ?? 0;
      const first = records[word + FIRST] ?? 0;
      const end = first + (records[word + SECOND] ?? 0);
      const times = records[word + COUNT] ?? 0;
      records[word + COUNT] = 0;
      for (let at = first; at < end; at += 1) {
        const term = lists[at] ?? 0;
        const count = counts[term] ?? 0;
        present[presentCount] = term;
        presentCount += (count - 1) >>> 31;
        counts[term] = count + times;
      }
    }
    vocabulary.counted = 0;
    this.#presentCount = presentCount;
  }

  /** The last block where it has so much room, else a new one. */
  #blockFor(count: number): Block {
    const last = this.#blocks.at(-1);
    if (last !== undefined && this.#used + count <= last.terms.length) return last;
    if (last !== undefined) {
      const full = { terms: last.terms.subarray(0, this.#used), frequencies: last.frequencies };
      this.#blocks[this.#blocks.length - 1] = full;
    }
    const size = Math.max(count, Math.min(2 * (last?.terms.length ?? LEAST_BLOCK), MOST_BLOCK));
    const block = { terms: new Uint32Array(size), frequencies: new Uint16Array(size) };
    this.#blocks.push(block);
    this.#used = 0;
    return block;
  }

  #makeRoom(terms: number): void {
    const grown = [this.#counts, this.#present, this.#holders].map((values) => {
      const larger = new Uint32Array(2 * terms);
      larger.set(values);
      return larger;
    });
    [this.#counts = this.#counts, this.#present = this.#present, this.#holders = this.#holders] = grown;
  }
}
