import { GrowableBuffer, type KernelMemory } from './kernelMemory.ts';
import { SECOND, STOPPED_AT, TERM_PADDING } from '../kernel/assembly/kernelLayout.ts';
import { partsOf } from './wordAnalyzer.ts';
import { TermInternTable } from './termInternTable.ts';

/** The terms of words; each word is analysed once. */
export class WordTerms {
  /** The first number of a term is its own number, from 0 in order of appearance. */
  readonly table: TermInternTable;
  /** The numbers of the terms of all words, word by word. */
  readonly lists: GrowableBuffer;
  #listEnd = 0;
  readonly #memory: KernelMemory;
  readonly #words: TermInternTable;
  /** The terms of some new words, their spans, and their records. */
  readonly #text: GrowableBuffer;
  readonly #spans: GrowableBuffer;
  readonly #found: GrowableBuffer;

  constructor(memory: KernelMemory, words: TermInternTable) {
    this.#memory = memory;
    this.#words = words;
    this.table = new TermInternTable(memory);
    this.lists = new GrowableBuffer(memory);
    this.#text = new GrowableBuffer(memory);
    this.#spans = new GrowableBuffer(memory);
    this.#found = new GrowableBuffer(memory);
  }

  /** Analyses words from a record to the last. Their first number becomes the index of their terms, the second the number of terms. */
  add(first: number): void {
    const memory = this.#memory;
    const words = this.#words;
    // Upper bounds: a record has more bytes than its word, and the word has at most one part more than bytes. The parts have at most six
    // times as many bytes, because each byte is in the whole word and in a part, and a character may be longer in lower case.
    const bytes = words.end - first;
    this.#text.reserve((6 + TERM_PADDING) * bytes, 0);
    this.#spans.reserve(8 * bytes, 0);
    let end = this.#spans.address;
    for (let record = first; record !== words.end; ) {
      const text = end === this.#spans.address ? this.#text.address : (memory.numbers[end / 4 - 1] ?? 0);
      end = memory.kernel.splitTerms(words.address + record, words.address + words.end, text + TERM_PADDING, end);
      record = (memory.numbers[STOPPED_AT / 4] ?? 0) - words.address;
      if (record === words.end) break;
      end = this.#write(record, end);
      record = words.behind(record);
    }
    memory.kernel.stemTerms(this.#spans.address, end);
    this.#list(first, (end - this.#spans.address) / 8);
  }

  /** Frees what is needed to add words. Until `clear`, the terms can be read only. */
  releaseWords(): void {
    this.table.releaseSlots();
    for (const buffer of [this.lists, this.#text, this.#spans, this.#found]) buffer.release();
    this.#listEnd = 0;
  }

  clear(): void {
    this.table.clear();
    this.#listEnd = 0;
  }

  /** Appends the parts of a word that is not ASCII, and returns the end of their spans. */
  #write(record: number, spansEnd: number): number {
    const words = this.#words;
    const { bytes, numbers } = this.#memory;
    const start = words.bytesAt(record);
    const parts = partsOf(bytes.toString('utf8', start, start + words.lengthOf(record)));
    let at = spansEnd / 4;
    let end = spansEnd === this.#spans.address ? this.#text.address : (numbers[at - 1] ?? 0);
    for (const part of parts) {
      end += TERM_PADDING;
      numbers[at++] = end;
      end += bytes.write(part, end);
      numbers[at++] = end;
    }
    words.setNumber(record, SECOND, parts.length);
    return 4 * at;
  }

  /** Looks up the written terms, which are those of the words from a record on. */
  #list(first: number, count: number): void {
    const words = this.#words;
    const found = this.#found;
    found.reserve(4 * count, 0);
    this.table.find(this.#spans.address, count, found.address);
    this.lists.reserve(this.#listEnd + 4 * count, this.#listEnd);
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
