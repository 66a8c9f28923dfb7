import { Room, type WordMemory } from './wordMemory.ts';
import { SECOND, STOPPED_AT, TERM_PADDING } from './wordRecord.ts';
import { WordTable } from './wordTable.ts';

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
  #listEnd = 0;
  readonly #memory: WordMemory;
  readonly #words: WordTable;
  readonly #analyzer: TermSource;
  /** The terms of some new words, one behind the other, where each begins and ends, and their records. */
  readonly #text: Room;
  readonly #borders: Room;
  readonly #found: Room;
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
  }

  /** Looks at words, from a record to the last: their first number becomes where their terms are listed, the second how many. */
  add(first: number): void {
    const words = this.#words;
    for (let record = first; record !== words.end; ) {
      const stopped = this.#writeAscii(record);
      this.#list(record, stopped);
      record = stopped;
      if (record === words.end) return;
      this.#write(record);
      const next = words.behind(record);
      this.#list(record, next);
      record = next;
    }
  }

  clear(): void {
    this.table.clear();
    this.#listEnd = 0;
  }

  /** Writes the terms of words up to one that is not ASCII, and gives the record of that. */
  #writeAscii(record: number): number {
    const memory = this.#memory;
    const words = this.#words;
    // A record has more bytes than its word, and the word at most one term more than bytes.
    const bytes = words.end - record;
    this.#text.hold((2 + TERM_PADDING) * bytes, 0);
    this.#borders.hold(8 * bytes, 0);
    const borders = this.#borders.address;
    const end = memory.program.split(
      words.address + record,
      words.address + words.end,
      this.#text.address + TERM_PADDING,
      borders,
    );
    memory.program.stem(borders, end);
    this.#count = (end - borders) / 8;
    return (memory.numbers[STOPPED_AT / 4] ?? 0) - words.address;
  }

  /** Writes the terms of a word. */
  #write(record: number): void {
    const words = this.#words;
    const start = words.bytesAt(record);
    const word = this.#memory.bytes.toString('utf8', start, start + words.lengthOf(record));
    const terms = this.#analyzer.termsOf(word);
    const size = terms.reduce((sum, term) => sum + 3 * term.length, 0);
    this.#text.hold(size + TERM_PADDING, 0);
    this.#borders.hold(8 * terms.length, 0);
    const { bytes, numbers } = this.#memory;
    let [end, at] = [this.#text.address, this.#borders.address / 4];
    for (const term of terms) {
      numbers[at++] = end;
      end += bytes.write(term, end);
      numbers[at++] = end;
    }
    this.#count = terms.length;
    words.setNumber(record, SECOND, terms.length);
  }

  /** Finds the terms that were written, which are those of the words from a record to before another. */
  #list(from: number, to: number): void {
    const words = this.#words;
    const found = this.#found;
    found.hold(4 * this.#count, 0);
    this.table.find(this.#borders.address, this.#count, found.address);
    this.lists.hold(this.#listEnd + 4 * this.#count, this.#listEnd);
    const { address } = this.lists;
    const end = this.#memory.program.list(
      words.address + from,
      words.address + to,
      found.address,
      this.table.address,
      address,
      address + this.#listEnd,
    );
    this.#listEnd = end - address;
  }
}
