import { AsciiTerms, MAX_WORD } from './asciiTerms.ts';
import { Room, type WordMemory } from './wordMemory.ts';
import { FIRST, SECOND } from './wordRecord.ts';
import { WordTable } from './wordTable.ts';

const LAST_ASCII = 127;
// The terms of so many new words are looked for together: of each the whole and its parts.
const MOST_WORDS = 256;
const TERM_BYTES = 2 * MAX_WORD;
const TERMS = MAX_WORD + 1;
// A term is read in blocks, beyond its end.
const PADDING = 8;

/** Gives the terms of words in any script. */
export interface TermSource {
  termsOf(word: string): readonly string[];
}

/** The terms of words, each of which is looked at once. */
export class WordTerms {
  /** A term's first number is its own, from 0 as they come. */
  readonly table: WordTable;
  /** The numbers of the terms of all words, one word behind the other. */
  readonly lists: Room;
  #listed = 0;
  readonly #memory: WordMemory;
  readonly #words: WordTable;
  readonly #analyzer: TermSource;
  readonly #ascii = new AsciiTerms();
  /** The terms of some new words, one behind the other, where each begins and ends, and their records. */
  readonly #text: Room;
  readonly #borders: Room;
  readonly #found: Room;
  #end: number;
  #count = 0;

  constructor(memory: WordMemory, words: WordTable, analyzer: TermSource) {
    this.#memory = memory;
    this.#words = words;
    this.#analyzer = analyzer;
    this.table = new WordTable(memory);
    this.lists = new Room(memory);
    this.#text = new Room(memory);
    this.#borders = new Room(memory);
    this.#found = new Room(memory);
    this.#text.hold(MOST_WORDS * TERM_BYTES + PADDING);
    this.#borders.hold(8 * MOST_WORDS * TERMS);
    this.#found.hold(4 * MOST_WORDS * TERMS);
    this.#end = this.#text.address;
  }

  /** Looks at words, from a record to the last: their first number becomes where their terms are listed, the second how many. */
  add(first: number): void {
    const words = this.#words;
    let from = first;
    let count = 0;
    for (let record = first; record !== 0; record = words.recordAfter(record)) {
      const isAscii = this.#isAscii(record);
      if (count === MOST_WORDS || !isAscii) {
        this.#list(from, record);
        from = record;
        count = 0;
      }
      if (isAscii) this.#writeAscii(record);
      else this.#write(record);
      count = isAscii ? count + 1 : MOST_WORDS;
    }
    this.#list(from, 0);
  }

  clear(): void {
    this.table.clear();
    this.#listed = 0;
  }

  #isAscii(record: number): boolean {
    const { bytes } = this.#memory;
    const start = this.#words.bytesAt(record);
    const end = start + this.#words.lengthOf(record);
    for (let at = start; at < end; at += 1) if ((bytes[at] ?? 0) > LAST_ASCII) return false;
    return true;
  }

  #writeAscii(record: number): void {
    const { bytes } = this.#memory;
    const start = this.#words.bytesAt(record);
    const count = this.#ascii.open(bytes, start, start + this.#words.lengthOf(record));
    for (let index = 0; index < count; index += 1) this.#wrote(this.#ascii.write(index, this.#end));
    this.#words.setNumber(record, SECOND, count);
  }

  #write(record: number): void {
    const start = this.#words.bytesAt(record);
    const word = this.#memory.bytes.toString('utf8', start, start + this.#words.lengthOf(record));
    const terms = this.#analyzer.termsOf(word);
    const size = terms.reduce((sum, term) => sum + 3 * term.length, 0);
    this.#text.hold(size + PADDING, 0);
    this.#borders.hold(8 * terms.length, 0);
    this.#found.hold(4 * terms.length, 0);
    this.#end = this.#text.address;
    for (const term of terms) this.#wrote(this.#end + this.#memory.bytes.write(term, this.#end));
    this.#words.setNumber(record, SECOND, terms.length);
  }

  /** Takes a term that was written behind those before. */
  #wrote(end: number): void {
    const { numbers } = this.#memory;
    const at = this.#borders.address / 4 + 2 * this.#count;
    numbers[at] = this.#end;
    numbers[at + 1] = end;
    this.#end = end;
    this.#count += 1;
  }

  /** Finds the terms that were written, which are those of the words from a record to before another. */
  #list(from: number, to: number): void {
    const words = this.#words;
    const memory = this.#memory;
    const found = this.#found;
    this.table.find(this.#borders.address, this.#count, found.address);
    this.lists.hold(4 * (this.#listed + this.#count), 4 * this.#listed);
    let at = found.address / 4;
    for (let record = from; record !== to; record = words.recordAfter(record)) {
      const first = this.#listed;
      const end = at + words.numberOf(record, SECOND);
      for (; at < end; at += 1) this.#addTerm(this.table.numberOf(memory.numbers[at] ?? 0, FIRST), first);
      words.setNumber(record, FIRST, 4 * first);
      words.setNumber(record, SECOND, this.#listed - first);
    }
    this.#count = 0;
    this.#end = this.#text.address;
  }

  /** Lists a term, unless the word whose terms are listed from `first` on has it. */
  #addTerm(term: number, first: number): void {
    const { numbers } = this.#memory;
    const lists = this.lists.address / 4;
    for (let at = lists + first; at < lists + this.#listed; at += 1) if (numbers[at] === term) return;
    numbers[lists + this.#listed] = term;
    this.#listed += 1;
  }
}
