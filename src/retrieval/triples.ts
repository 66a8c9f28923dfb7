import type { Postings } from './postings.ts';

interface SortedPostings extends Postings {
  /** Where the postings of each term begin; one more entry than there are terms. */
  readonly offsets: Uint32Array;
}

/** (term, document, frequency) in growing typed arrays: an object for each posting would take ten times the memory. */
export class Triples {
  #terms = new Uint32Array(1024);
  #documents = new Uint32Array(1024);
  #frequencies = new Uint32Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(term: number, document: number, frequency: number): void {
    if (this.#length === this.#terms.length) this.#grow();
    this.#terms[this.#length] = term;
    this.#documents[this.#length] = document;
    this.#frequencies[this.#length] = frequency;
    this.#length += 1;
  }

  /** A counting sort by the ranks of the terms, which keeps the documents of each term in order. */
  byTerm(ranks: Uint32Array): SortedPostings {
    const offsets = new Uint32Array(ranks.length + 1);
    for (let at = 0; at < this.#length; at += 1) {
      const slot = (ranks[this.#terms[at] ?? 0] ?? 0) + 1;
      offsets[slot] = (offsets[slot] ?? 0) + 1;
    }
    for (let rank = 0; rank < ranks.length; rank += 1)
      offsets[rank + 1] = (offsets[rank + 1] ?? 0) + (offsets[rank] ?? 0);
    const documents = new Uint32Array(this.#length);
    const frequencies = new Uint32Array(this.#length);
    const next = offsets.slice();
    for (let at = 0; at < this.#length; at += 1) {
      const rank = ranks[this.#terms[at] ?? 0] ?? 0;
      const to = next[rank] ?? 0;
      documents[to] = this.#documents[at] ?? 0;
      frequencies[to] = this.#frequencies[at] ?? 0;
      next[rank] = to + 1;
    }
    return { offsets, documents, frequencies };
  }

  #grow(): void {
    this.#terms = grown(this.#terms);
    this.#documents = grown(this.#documents);
    this.#frequencies = grown(this.#frequencies);
  }
}

function grown(values: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(values.length * 2);
  larger.set(values);
  return larger;
}
