import { GrowableBuffer, type KernelMemory } from './kernelMemory.ts';
import { SECOND, STOPPED_AT, TERM_PADDING } from '../kernel/assembly/layout/memory.ts';
import { partsOf } from './words.ts';
import { TermInternTable } from './termInternTable.ts';

/** The terms of words, each of which is looked at once. */
export class WordTerms {
  /** A term's first number is its own, from 0 as they come. */
  readonly table: TermInternTable;
  /** The numbers of the terms of all words, one word behind the other. */
  readonly lists: GrowableBuffer;
  #listEnd = 0;
  readonly #memory: KernelMemory;
  readonly #words: TermInternTable;
  /** The terms of some new words, one behind the other, where each begins and ends, and their records. */
  readonly #text: GrowableBuffer;
  readonly #borders: GrowableBuffer;
  readonly #found: GrowableBuffer;

  constructor(memory: KernelMemory, words: TermInternTable) {
    this.#memory = memory;
    this.#words = words;
    this.table = new TermInternTable(memory);
    this.lists = new GrowableBuffer(memory);
    this.#text = new GrowableBuffer(memory);
    this.#borders = new GrowableBuffer(memory);
    this.#found = new GrowableBuffer(memory);
  }

  /** Looks at words, from a record to the last: their first number becomes where their terms are listed, the second how many. */
  add(first: number): void {
    const memory = this.#memory;
    const words = this.#words;
    // A record has more bytes than its word, and the word at most one part more than bytes, which have six times as many at most:
    // each counts for the whole and for a part, and in lower case a character may be longer.
    const bytes = words.end - first;
    this.#text.hold((6 + TERM_PADDING) * bytes, 0);
    this.#borders.hold(8 * bytes, 0);
    let end = this.#borders.address;
    for (let record = first; record !== words.end; ) {
      const text = end === this.#borders.address ? this.#text.address : (memory.numbers[end / 4 - 1] ?? 0);
      end = memory.kernel.splitWords(words.address + record, words.address + words.end, text + TERM_PADDING, end);
      record = (memory.numbers[STOPPED_AT / 4] ?? 0) - words.address;
      if (record === words.end) break;
      end = this.#write(record, end);
      record = words.behind(record);
    }
    memory.kernel.stemTerms(this.#borders.address, end);
    this.#list(first, (end - this.#borders.address) / 8);
  }

  clear(): void {
    this.table.clear();
    this.#listEnd = 0;
  }

  /** Writes the parts of a word that is not ASCII behind those before, and gives where their borders end. */
  #write(record: number, bordersEnd: number): number {
    const words = this.#words;
    const { bytes, numbers } = this.#memory;
    const start = words.bytesAt(record);
    const parts = partsOf(bytes.toString('utf8', start, start + words.lengthOf(record)));
    let at = bordersEnd / 4;
    let end = bordersEnd === this.#borders.address ? this.#text.address : (numbers[at - 1] ?? 0);
    for (const part of parts) {
      end += TERM_PADDING;
      numbers[at++] = end;
      end += bytes.write(part, end);
      numbers[at++] = end;
    }
    words.setNumber(record, SECOND, parts.length);
    return 4 * at;
  }

  /** Finds the terms that were written, which are those of the words from a record on. */
  #list(first: number, count: number): void {
    const words = this.#words;
    const found = this.#found;
    found.hold(4 * count, 0);
    this.table.find(this.#borders.address, count, found.address);
    this.lists.hold(this.#listEnd + 4 * count, this.#listEnd);
    const { address } = this.lists;
    const end = this.#memory.kernel.listTerms(
      words.address + first,
      words.address + words.end,
      found.address,
      this.table.address,
      address,
      address + this.#listEnd,
    );
    this.#listEnd = end - address;
  }
}
