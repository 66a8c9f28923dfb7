import { ByteReader, ByteWriter } from './bytes.ts';

// Terms are stored in groups, each term but the first of a group without what it shares with the one before. Finding one
// costs a binary search over the groups and half a group of reading; a Map of strings would take ten times the memory.
const GROUP = 16;

/** Where the postings of a term lie. */
export interface TermPlace {
  readonly term: string;
  readonly start: number;
  readonly length: number;
}

/** The terms of a segment in the order of their UTF-16 units, each with the place of its postings. It never changes. */
export class Dictionary {
  readonly size: number;
  readonly bytes: Uint8Array;
  /** Where each group begins: in `bytes`, and in the postings. */
  readonly groups: Uint32Array;
  readonly starts: Uint32Array;

  constructor(size: number, bytes: Uint8Array, groups: Uint32Array, starts: Uint32Array) {
    this.size = size;
    this.bytes = bytes;
    this.groups = groups;
    this.starts = starts;
  }

  find(term: string): TermPlace | undefined {
    for (const place of this.from(term)) return place.term === term ? place : undefined;
    return undefined;
  }

  /** The terms that begin with `prefix`, in order. */
  *withPrefix(prefix: string): Generator<TermPlace, void> {
    for (const place of this.from(prefix)) {
      if (!place.term.startsWith(prefix)) return;
      yield place;
    }
  }

  /** All terms from the first that is not before `term`, in order. */
  *from(term: string): Generator<TermPlace, void> {
    let [low, high] = [0, this.groups.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#firstOf(middle) <= term) low = middle;
      else high = middle - 1;
    }
    for (let group = low; group < this.groups.length; group += 1) {
      for (const place of this.#read(group)) if (place.term >= term) yield place;
    }
  }

  #firstOf(group: number): string {
    const reader = new ByteReader(this.bytes, this.groups[group]);
    reader.varint(); // what is shared: nothing
    return reader.text();
  }

  *#read(group: number): Generator<TermPlace, void> {
    const reader = new ByteReader(this.bytes, this.groups[group]);
    let [term, start] = ['', this.starts[group] ?? 0];
    for (let index = Math.min(GROUP, this.size - group * GROUP); index > 0; index -= 1) {
      term = term.slice(0, reader.varint()) + reader.text();
      const length = reader.varint();
      yield { term, start, length };
      start += length;
    }
  }
}

/** Takes terms in order and makes a dictionary of them. */
export class DictionaryWriter {
  readonly #bytes = new ByteWriter();
  readonly #groups: number[] = [];
  readonly #starts: number[] = [];
  #size = 0;
  #last = '';

  add({ term, start, length }: TermPlace): void {
    if (this.#size % GROUP === 0) {
      this.#groups.push(this.#bytes.length);
      this.#starts.push(start);
      this.#last = '';
    }
    const shared = sharedLength(this.#last, term);
    this.#bytes.varint(shared);
    this.#bytes.text(term.slice(shared));
    this.#bytes.varint(length);
    this.#last = term;
    this.#size += 1;
  }

  finish(): Dictionary {
    const [groups, starts] = [Uint32Array.from(this.#groups), Uint32Array.from(this.#starts)];
    return new Dictionary(this.#size, this.#bytes.view().slice(), groups, starts);
  }
}

function sharedLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < most && a.charCodeAt(shared) === b.charCodeAt(shared)) shared += 1;
  // Half of a surrogate pair has no UTF-8.
  const code = b.charCodeAt(shared - 1);
  return shared > 0 && code >= 0xd800 && code <= 0xdbff ? shared - 1 : shared;
}
