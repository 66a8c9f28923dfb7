import { DictionaryWriter } from './dictionary.ts';
import { PostingsWriter } from './postings.ts';
import type { Vocabulary } from '../tokenizer/vocabulary.ts';
import { GrowableBuffer } from '../tokenizer/kernelMemory.ts';

const LEAST_BLOCK = 1 << 12;
const MOST_BLOCK = 1 << 18;

/** The postings of terms, one term behind the other, each ascending by document. They are valid until the next document. */
interface TermPostings {
  /** Addresses. */
  readonly documents: number;
  readonly frequencies: number;
  /** Behind the last posting of each term, by its number. */
  readonly ends: Uint32Array;
}

/** Buffers for terms of documents, and how often each has them. */
interface Block {
  readonly size: number;
  /** Addresses. */
  readonly terms: number;
  readonly frequencies: number;
  used: number;
  documents: number;
}

/** Which terms each document has and how often, in the vocabulary's memory: objects would take ten times as much. */
export class DocumentTerms {
  readonly vocabulary: Vocabulary;
  /** They write what lies in the same memory. */
  readonly lists: PostingsWriter;
  readonly dictionary: DictionaryWriter;
  postingCount = 0;
  /** Full blocks stay where they are: copying into a larger one costs as much as all of the counting. */
  readonly #blocks: Block[] = [];
  #block = 0;
  #documentCount = 0;
  /** How many terms each document has. */
  readonly #sizes: GrowableBuffer;
  /** Of the document that is added: how often it has each term, and the terms that it has. */
  readonly #counts: GrowableBuffer;
  readonly #present: GrowableBuffer;
  /** How many documents have each term. */
  readonly #holders: GrowableBuffer;
  readonly #lengths: GrowableBuffer;
  /** The postings by term, and where the next of each goes. */
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

  /** Makes a document of the words that the vocabulary has counted, which it forgets. */
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
    this.#sizes.hold(4 * (this.#documentCount + 1));
    memory.numbers[this.#sizes.address / 4 + this.#documentCount] = count;
    block.used += count;
    block.documents += 1;
    this.#documentCount += 1;
    this.postingCount += count;
  }

  /** SerialQueue them around: the documents of each term, the terms in the given order. */
  byTerm(order: Uint32Array): TermPostings {
    const { memory } = this.vocabulary;
    const [next, documents, frequencies] = [this.#next, this.#documents, this.#frequencies];
    next.hold(4 * order.length, 0);
    this.#holders.hold(4 * order.length);
    documents.hold(4 * this.postingCount, 0);
    frequencies.hold(2 * this.postingCount, 0);
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

  /** Puts the lengths of documents where `lists` can read them, and gives that address. */
  keepLengths(lengths: Uint16Array): number {
    this.#lengths.hold(lengths.byteLength, 0);
    const { address } = this.#lengths;
    this.vocabulary.memory.halves.set(lengths, address / 2);
    return address;
  }

  /** Forgets all documents and words, and keeps the room. */
  clear(): void {
    this.#holders.clear(4 * this.vocabulary.terms.table.size);
    for (const block of this.#blocks) [block.used, block.documents] = [0, 0];
    this.#block = 0;
    this.#documentCount = 0;
    this.postingCount = 0;
    this.vocabulary.clear();
  }

  /** Counts the terms of the counted words, and gives the end of those that there are. */
  #gather(): number {
    const { counted, memory, words, terms } = this.vocabulary;
    const bytes = 4 * (terms.table.size + 1);
    this.#counts.hold(bytes);
    this.#holders.hold(bytes);
    this.#present.hold(bytes, 0);
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

  /** The block that is filled where it has so much buffer, else the next. */
  #blockFor(count: number): Block {
    for (; ; this.#block += 1) {
      const block = this.#blocks[this.#block] ?? this.#addBlock(count);
      if (block.used + count <= block.size) return block;
    }
  }

  #addBlock(count: number): Block {
    const { memory } = this.vocabulary;
    const size = Math.max(count, Math.min(2 * (this.#blocks.at(-1)?.size ?? LEAST_BLOCK), MOST_BLOCK));
    const block = { size, terms: memory.take(4 * size), frequencies: memory.take(2 * size), used: 0, documents: 0 };
    this.#blocks.push(block);
    return block;
  }
}
