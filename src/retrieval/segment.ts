import type { Chunk } from './chunk.ts';
import type { WordAnalyzer } from './words.ts';

// The name of a definition counts eight times, the words of its path and scope once. Weights do not add to the length,
// which is that of the text alone.
const SYMBOL_WEIGHT = 8;
const PATH_WEIGHT = 1;
const SCOPE_WEIGHT = 1;
const MAX_FREQUENCY = 0xffff;

/**
 * A set of chunks that never changes, with for each term the chunks that hold it: typed arrays only, one after another, so that
 * a segment can be handed to another thread or written to disk as it is.
 */
export interface Segment {
  readonly chunks: readonly Chunk[];
  readonly terms: ReadonlyMap<string, number>;
  /** Where the postings of each term begin; one more entry than there are terms. */
  readonly offsets: Uint32Array;
  readonly documents: Uint32Array;
  readonly frequencies: Uint16Array;
  /** Words of each chunk's text. */
  readonly lengths: Uint32Array;
}

/** Builds a segment. Postings are gathered as (term, chunk, frequency) triples in order of chunks, then sorted by counting. */
export function buildSegment(chunks: readonly Chunk[], analyzer: WordAnalyzer): Segment {
  const terms = new Map<string, number>();
  const lengths = new Uint32Array(chunks.length);
  const gathered = new Postings();
  const counts = new Map<number, number>();
  const count = (term: string, weight: number): void => {
    let id = terms.get(term);
    if (id === undefined) {
      id = terms.size;
      terms.set(term, id);
    }
    counts.set(id, (counts.get(id) ?? 0) + weight);
  };
  for (const [document, chunk] of chunks.entries()) {
    counts.clear();
    let length = 0;
    analyzer.forEachWord(chunk.text, (wordTerms) => {
      length += 1;
      for (const term of wordTerms) count(term, 1);
    });
    const addField = (text: string, weight: number): void =>
      analyzer.forEachWord(text, (wordTerms) => {
        for (const term of wordTerms) count(term, weight);
      });
    for (const symbol of chunk.symbols) addField(symbol, SYMBOL_WEIGHT);
    for (const name of chunk.scope) addField(name, SCOPE_WEIGHT);
    addField(chunk.source, PATH_WEIGHT);
    lengths[document] = length;
    for (const [term, frequency] of counts) gathered.add(term, document, Math.min(frequency, MAX_FREQUENCY));
  }
  return { chunks, terms, lengths, ...gathered.byTerm(terms.size) };
}

/** Triples in growing typed arrays: an object per posting would take ten times the memory. */
class Postings {
  #terms = new Uint32Array(1024);
  #documents = new Uint32Array(1024);
  #frequencies = new Uint16Array(1024);
  #length = 0;

  add(term: number, document: number, frequency: number): void {
    if (this.#length === this.#terms.length) this.#grow();
    this.#terms[this.#length] = term;
    this.#documents[this.#length] = document;
    this.#frequencies[this.#length] = frequency;
    this.#length += 1;
  }

  /** A counting sort by term, which keeps the chunks of each term in order. */
  byTerm(termCount: number): Pick<Segment, 'offsets' | 'documents' | 'frequencies'> {
    const offsets = new Uint32Array(termCount + 1);
    for (let at = 0; at < this.#length; at += 1) {
      const slot = (this.#terms[at] ?? 0) + 1;
      offsets[slot] = (offsets[slot] ?? 0) + 1;
    }
    for (let term = 0; term < termCount; term += 1) offsets[term + 1] = (offsets[term + 1] ?? 0) + (offsets[term] ?? 0);
    const documents = new Uint32Array(this.#length);
    const frequencies = new Uint16Array(this.#length);
    const next = offsets.slice();
    for (let at = 0; at < this.#length; at += 1) {
      const term = this.#terms[at] ?? 0;
      const to = next[term] ?? 0;
      documents[to] = this.#documents[at] ?? 0;
      frequencies[to] = this.#frequencies[at] ?? 0;
      next[term] = to + 1;
    }
    return { offsets, documents, frequencies };
  }

  #grow(): void {
    const size = this.#length * 2;
    const [terms, documents, frequencies] = [new Uint32Array(size), new Uint32Array(size), new Uint16Array(size)];
    terms.set(this.#terms);
    documents.set(this.#documents);
    frequencies.set(this.#frequencies);
    [this.#terms, this.#documents, this.#frequencies] = [terms, documents, frequencies];
  }
}
