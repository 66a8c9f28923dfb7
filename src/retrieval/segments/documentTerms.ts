import { DictionaryWriter } from './dictionary.ts';
import { PostingsWriter } from './postings.ts';
import type { Vocabulary } from '../tokenizer/vocabulary.ts';
import { GrowableBuffer } from '../tokenizer/kernelMemory.ts';

const LEAST_BLOCK = 1 << 12;
const MOST_BLOCK = 1 << 18;

/** The postings of terms, term by term, each in ascending order of documents. Valid until the next document is added. */
interface TermPostings {
  /** Addresses. */
  readonly documents: number;
  readonly frequencies: number;
  /** The end of each term's postings, by its number. */
  readonly ends: Uint32Array;
}

/** Buffers for the terms of documents and their frequencies. */
interface Block {
  readonly size: number;
  /** Addresses. */
  readonly terms: number;
  readonly frequencies: number;
  used: number;
  documents: number;
}

/** The terms of each document and their frequencies, in the vocabulary's memory; objects would take ten times as much. */
export class DocumentTerms {
  readonly vocabulary: Vocabulary;
  /** The writers, which read from the same memory. */
  readonly lists: PostingsWriter;
  readonly dictionary: DictionaryWriter;
  postingCount = 0;
  /** Full blocks are not moved, because copying into a larger one costs as much as all the counting. */
  readonly #blocks: Block[] = [];
  #block = 0;
  #documentCount = 0;
  /** The number of terms of each document. */
  readonly #sizes: GrowableBuffer;
  /** For the document that is being added: the frequency of each term, and its terms. */
  readonly #counts: GrowableBuffer;
  readonly #present: GrowableBuffer;
  /** The number of documents with each term. */
  readonly #holders: GrowableBuffer;
  readonly #lengths: GrowableBuffer;
  /** The postings by term, and the address of each term's next posting. */
  readonly #next: GrowableBuffer;
  readonly #documents: GrowableBuffer;
  readonly #frequencies: GrowableBuffer;

  constructor(vocabulary: Vocabulary) {
    const { memory } = vocabulary;
    this.vocabulary = vocabulary;
    this.lists = new PostingsWriter(memory);
    this.dictionary = new DictionaryWriter(memory);
    this.#lengths = new GrowableBuffer(memory);
    this.#sizes = new GrowableBuffer(memory);
    this.#counts = new GrowableBuffer(memory);
    this.#present = new GrowableBuffer(memory);
    this.#holders = new GrowableBuffer(memory);
    this.#next = new GrowableBuffer(memory);
    this.#documents = new GrowableBuffer(memory);
    this.#frequencies = new GrowableBuffer(memory);
  }

  /** Adds a document with the words that the vocabulary has counted, and resets these counts. */
  add(): void {
    const { memory } = this.vocabulary;
    const end = this.#gather();
    const count = (end - this.#present.address) / 4;
    const block = this.#blockFor(count);
    memory.kernel.noteTerms(
      this.#present.address,
      end,
      this.#counts.address,
      this.#holders.address,
      block.terms + 4 * block.used,
      block.frequencies + 2 * block.used,
    );
    this.#sizes.reserve(4 * (this.#documentCount + 1));
    memory.numbers[this.#sizes.address / 4 + this.#documentCount] = count;
    block.used += count;
    block.documents += 1;
    this.#documentCount += 1;
    this.postingCount += count;
  }

  /** Inverts them and frees what is needed to add documents: the documents of each term, with the terms in the given order. */
  byTerm(order: Uint32Array): TermPostings {
    const { memory } = this.vocabulary;
    for (const buffer of [this.#counts, this.#present]) buffer.release();
    const [next, documents, frequencies] = [this.#next, this.#documents, this.#frequencies];
    next.reserve(4 * order.length, 0);
    this.#holders.reserve(4 * order.length);
    documents.reserve(4 * this.postingCount, 0);
    frequencies.reserve(2 * this.postingCount, 0);
    const { numbers, kernel } = memory;
    const [nextAt, holdersAt] = [next.address / 4, this.#holders.address / 4];
    let sum = 0;
    for (const term of order) {
      numbers[nextAt + term] = sum;
      sum += numbers[holdersAt + term] ?? 0;
    }
    let document = 0;
    for (const block of this.#blocks) {
      const sizes = this.#sizes.address + 4 * document;
      kernel.scatterPostings(
        block.terms,
        block.frequencies,
        sizes,
        sizes + 4 * block.documents,
        document,
        next.address,
        documents.address,
        frequencies.address,
      );
      document += block.documents;
    }
    const ends = numbers.slice(nextAt, nextAt + order.length);
    return { documents: documents.address, frequencies: frequencies.address, ends };
  }

  /** Copies the lengths of documents into the memory, and returns their address. */
  keepLengths(lengths: Uint16Array): number {
    this.#lengths.reserve(lengths.byteLength, 0);
    const { address } = this.#lengths;
    this.vocabulary.memory.halves.set(lengths, address / 2);
    return address;
  }

  /** Removes all documents and words, and keeps the memory. */
  clear(): void {
    for (const buffer of [this.#next, this.#documents, this.#frequencies, this.#lengths]) buffer.release();
    this.#holders.clear(4 * this.vocabulary.terms.table.size);
    for (const block of this.#blocks) [block.used, block.documents] = [0, 0];
    this.#block = 0;
    this.#documentCount = 0;
    this.postingCount = 0;
    this.vocabulary.clear();
  }

  /** Counts the terms of the counted words, and returns the end of their list. */
  #gather(): number {
    const { counted, memory, words, terms } = this.vocabulary;
    const bytes = 4 * (terms.table.size + 1);
    this.#counts.reserve(bytes);
    this.#holders.reserve(bytes);
    this.#present.reserve(bytes, 0);
    const { address } = counted.buffer;
    const end = memory.kernel.gatherTerms(
      address,
      address + 4 * counted.count,
      words.address,
      terms.lists.address,
      this.#counts.address,
      this.#present.address,
    );
    counted.count = 0;
    return end;
  }

  /** The current block if it has that much space, else the next. */
  #blockFor(count: number): Block {
    for (; ; this.#block += 1) {
      const block = this.#blocks[this.#block] ?? this.#addBlock(count);
      if (block.used + count <= block.size) return block;
    }
  }

  #addBlock(count: number): Block {
    const { memory } = this.vocabulary;
    const size = Math.max(count, Math.min(2 * (this.#blocks.at(-1)?.size ?? LEAST_BLOCK), MOST_BLOCK));
    const block = {
      size,
      terms: memory.allocate(4 * size),
      frequencies: memory.allocate(2 * size),
      used: 0,
      documents: 0,
    };
    this.#blocks.push(block);
    return block;
  }
}
