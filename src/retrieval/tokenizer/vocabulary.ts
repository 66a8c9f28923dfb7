import { findWordSpans } from './scanWords.ts';
import { GrowableBuffer, KernelMemory } from './kernelMemory.ts';
import { LENGTH_AT, STEP_BYTES } from '../kernel/assembly/kernelLayout.ts';
import { TermInternTable } from './termInternTable.ts';
import { WordTerms } from './wordTerms.ts';

const ENCODER = new TextEncoder();

/** The words of a text in order, as records. */
export class WordList {
  readonly buffer: GrowableBuffer;
  count = 0;

  constructor(memory: KernelMemory) {
    this.buffer = new GrowableBuffer(memory);
  }
}

/** The words of some texts, and the terms of each word, numbered from 0 in order of appearance. */
export class Vocabulary {
  readonly memory = new KernelMemory();
  readonly words = new TermInternTable(this.memory);
  readonly terms = new WordTerms(this.memory, this.words);
  /** The words that are counted. */
  readonly counted = new WordList(this.memory);
  readonly #found = new WordList(this.memory);
  readonly #text = new GrowableBuffer(this.memory);
  /** The spans of the words in the text that was read last. */
  readonly #spans = new GrowableBuffer(this.memory);
  #isAscii = true;

  /** Counts each word of a text with a weight. Returns the number of words that have terms. */
  count(text: string, weight: number): number {
    this.read(text, this.#found);
    return this.countAgain(this.#found, weight);
  }

  /** Counts parts of the text that was counted last, given by their spans, which must not split words. */
  countParts(text: string, places: readonly number[], weight: number): void {
    if (this.#isAscii) {
      for (let at = 0; at < places.length; at += 2) {
        const first = this.#wordFrom(places[at] ?? 0);
        this.#count(this.#found.buffer.address + 4 * first, this.#wordFrom(places[at + 1] ?? 0) - first, weight);
      }
      return;
    }
    for (let at = 0; at < places.length; at += 2) this.count(text.slice(places[at], places[at + 1]), weight);
  }

  /** Counts words that were read before. */
  countAgain({ buffer, count }: WordList, weight: number): number {
    return this.#count(buffer.address, count, weight);
  }

  /** Finds the words of a text. */
  read(text: string, list: WordList): void {
    const { memory, words } = this;
    const buffer = this.#text;
    buffer.reserve(3 * text.length + STEP_BYTES, 0);
    this.#spans.reserve(4 * (text.length + 8), 0);
    const spans = this.#spans.address;
    // In one call, because reading a string character by character takes several times as long.
    const length = ENCODER.encodeInto(text, memory.bytes.subarray(buffer.address)).written;
    const end = buffer.address + length;
    this.#isAscii = length === text.length;
    let spansEnd;
    if (this.#isAscii) {
      spansEnd = memory.kernel.findSpans(buffer.address, end, spans);
    } else {
      memory.bytes[end] = 0;
      spansEnd = 4 * findWordSpans(memory.bytes, buffer.address, end, memory.numbers, spans / 4);
    }
    list.count = (spansEnd - spans) / 8;
    list.buffer.reserve(4 * list.count, 0);
    const nextWord = words.end;
    words.find(spans, list.count, list.buffer.address);
    if (words.end !== nextWord) this.terms.add(nextWord);
  }

  #count(found: number, count: number, weight: number): number {
    const { counted, memory } = this;
    counted.buffer.reserve(4 * (counted.count + count + 1));
    const from = counted.buffer.address + 4 * counted.count;
    const to = memory.kernel.countWords(found, found + 4 * count, this.words.address, weight, from);
    counted.count += (to - from) / 4;
    return memory.numbers[LENGTH_AT / 4] ?? 0;
  }

  /** The first word at or after a position in the text that was counted last. */
  #wordFrom(place: number): number {
    const { numbers } = this.memory;
    const address = this.#text.address + place;
    const spans = this.#spans.address / 4;
    let low = 0;
    let high = this.#found.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[spans + 2 * middle] ?? 0) < address) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Frees what is needed to count words, for what is made of the terms. Until `clear`, the terms can be read only. */
  releaseWords(): void {
    this.words.release();
    this.terms.releaseWords();
  }

  clear(): void {
    this.words.clear();
    this.terms.clear();
    this.counted.count = 0;
  }
}
