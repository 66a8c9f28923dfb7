import { findBorders } from './scanWords.ts';
import { GrowableBuffer, KernelMemory } from './kernelMemory.ts';
import { LENGTH_AT, STEP_BYTES } from '../kernel/assembly/layout/memory.ts';
import { TermInternTable } from './termInternTable.ts';
import { WordTerms } from './wordTerms.ts';

const ENCODER = new TextEncoder();

/** The words of a text, in order, each by its record. */
export class WordList {
  readonly buffer: GrowableBuffer;
  count = 0;

  constructor(memory: KernelMemory) {
    this.buffer = new GrowableBuffer(memory);
  }
}

/** The words of some texts, and the terms of each, which are numbered from 0 as they come. */
export class Vocabulary {
  readonly memory = new KernelMemory();
  readonly words = new TermInternTable(this.memory);
  readonly terms = new WordTerms(this.memory, this.words);
  /** The words that are counted. */
  readonly counted = new WordList(this.memory);
  readonly #found = new WordList(this.memory);
  readonly #text = new GrowableBuffer(this.memory);
  /** Where words begin and end in the text that was read last, by turns. */
  readonly #borders = new GrowableBuffer(this.memory);
  #isAscii = true;

  /** Adds each word of a text to what is counted, as often as it weighs; gives how many of them have terms. */
  count(text: string, weight: number): number {
    this.read(text, this.#found);
    return this.countAgain(this.#found, weight);
  }

  /** Does so with parts of the text that was counted last, given by where each begins and ends; they cut no word. */
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

  /** Does so with words that were read before. */
  countAgain({ buffer, count }: WordList, weight: number): number {
    return this.#count(buffer.address, count, weight);
  }

  /** Finds the words of a text. */
  read(text: string, list: WordList): void {
    const { memory, words } = this;
    const buffer = this.#text;
    buffer.hold(3 * text.length + STEP_BYTES, 0);
    this.#borders.hold(4 * (text.length + 8), 0);
    const borders = this.#borders.address;
    // In one go, since asking a string for each of its characters takes several times as long.
    const length = ENCODER.encodeInto(text, memory.bytes.subarray(buffer.address)).written;
    const end = buffer.address + length;
    this.#isAscii = length === text.length;
    let bordersEnd;
    if (this.#isAscii) {
      bordersEnd = memory.kernel.findSpans(buffer.address, end, borders);
    } else {
      memory.bytes[end] = 0;
      bordersEnd = 4 * findBorders(memory.bytes, buffer.address, end, memory.numbers, borders / 4);
    }
    list.count = (bordersEnd - borders) / 8;
    list.buffer.hold(4 * list.count, 0);
    const known = words.end;
    words.find(borders, list.count, list.buffer.address);
    if (words.end !== known) this.terms.add(known);
  }

  #count(found: number, count: number, weight: number): number {
    const { counted, memory } = this;
    counted.buffer.hold(4 * (counted.count + count + 1));
    const from = counted.buffer.address + 4 * counted.count;
    const to = memory.kernel.countWords(found, found + 4 * count, this.words.address, weight, from);
    counted.count += (to - from) / 4;
    return memory.numbers[LENGTH_AT / 4] ?? 0;
  }

  /** The first word of the text that was counted last that does not begin before a place. */
  #wordFrom(place: number): number {
    const { numbers } = this.memory;
    const address = this.#text.address + place;
    const borders = this.#borders.address / 4;
    let low = 0;
    let high = this.#found.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[borders + 2 * middle] ?? 0) < address) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  clear(): void {
    this.words.clear();
    this.terms.clear();
    this.counted.count = 0;
  }
}
