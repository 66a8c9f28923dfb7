import { findBorders } from './scanWords.ts';
import { Room, WordMemory } from './wordMemory.ts';
import { LENGTH_AT, STEP_BYTES } from './wordRecord.ts';
import { WordTable } from './wordTable.ts';
import { type TermSource, WordTerms } from './wordTerms.ts';

/** The words of a text, in order, each by its record. */
export class WordList {
  readonly room: Room;
  count = 0;

  constructor(memory: WordMemory) {
    this.room = new Room(memory);
  }
}

/** The words of some texts, and the terms of each, which are numbered from 0 as they come. */
export class Vocabulary {
  readonly memory = new WordMemory();
  readonly words = new WordTable(this.memory);
  readonly terms: WordTerms;
  /** The words that are counted. */
  readonly counted = new WordList(this.memory);
  readonly #found = new WordList(this.memory);
  readonly #text = new Room(this.memory);
  /** Where words begin and end in the text that was read last, by turns. */
  readonly #borders = new Room(this.memory);

  constructor(analyzer: TermSource) {
    this.terms = new WordTerms(this.memory, this.words, analyzer);
  }

  /** Adds each word of a text to what is counted, as often as it weighs; gives how many of them have terms. */
  count(text: string, weight: number): number {
    this.read(text, this.#found);
    return this.countAgain(this.#found, weight);
  }

  /** Does so with words that were read before. */
  countAgain({ room, count }: WordList, weight: number): number {
    const { counted, memory } = this;
    counted.room.hold(4 * (counted.count + count + 1));
    const from = counted.room.address + 4 * counted.count;
    const to = memory.program.count(room.address, room.address + 4 * count, this.words.address, weight, from);
    counted.count += (to - from) / 4;
    return memory.numbers[LENGTH_AT / 4] ?? 0;
  }

  /** Finds the words of a text. */
  read(text: string, list: WordList): void {
    const { memory, words } = this;
    const most = 3 * text.length;
    this.#text.hold(most + STEP_BYTES, 0);
    this.#borders.hold(4 * (text.length + 8), 0);
    const [start, borders] = [this.#text.address, this.#borders.address];
    // In one go, since asking a string for each of its characters takes several times as long.
    const length = memory.bytes.write(text, start);
    const end = start + length;
    const isAscii = length === text.length;
    if (!isAscii) memory.bytes[end] = 0;
    const bordersEnd = isAscii
      ? memory.program.borders(start, end, borders)
      : 4 * findBorders(memory.bytes, start, end, memory.numbers, borders / 4);
    list.count = (bordersEnd - borders) / 8;
    list.room.hold(4 * list.count, 0);
    const known = words.end;
    words.find(borders, list.count, list.room.address);
    if (words.end !== known) this.terms.add(known);
  }

  clear(): void {
    this.words.clear();
    this.terms.clear();
    this.counted.count = 0;
  }
}
