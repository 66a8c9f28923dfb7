import { AsciiTerms } from './asciiTerms.ts';
import { WordScanner } from './scanWords.ts';
import type { WordAnalyzer } from './words.ts';
import { PADDING, WordKey } from './wordKey.ts';
import { COUNT, FIRST, SECOND, WordTable } from './wordTable.ts';

// The words of a file come again and again: where each was found last is looked at first, and so is most often at hand.
const RECENT = 1 << 12;

/** The words of some texts, and the terms of each, which are numbered from 0 as they come. */
export class Vocabulary {
  /** The terms; each one's number is its first. */
  readonly terms = new WordTable();
  /** Each word's first number is where its terms begin in `lists`, the second how many they are. */
  readonly words = new WordTable();
  /** The terms of all words, one word behind the other. */
  lists = new Uint32Array(1024);
  #listed = 0;
  /** The words of the text that was read last. */
  found = new Int32Array(1024);
  /** The words that are counted, with their counts as their third numbers. */
  countedWords = new Int32Array(1024);
  counted = 0;
  readonly #recent = new Int32Array(RECENT);
  readonly #scanner = new WordScanner();
  readonly #analyzer: WordAnalyzer;
  readonly #ascii = new AsciiTerms();

  constructor(analyzer: WordAnalyzer) {
    this.#analyzer = analyzer;
  }

  /** Adds each word of a text to what is counted, as often as it weighs; gives how many of them have terms. */
  count(text: string, weight: number): number {
    const wordCount = this.read(text);
    return this.countAgain(this.found, wordCount, weight);
  }

  /** Does so with the first of some words that were found before. */
  countAgain(found: Int32Array, wordCount: number, weight: number): number {
    const { records } = this.words;
    if (this.counted + wordCount >= this.countedWords.length) this.#makeRoom(this.counted + wordCount);
    const { countedWords } = this;
    let { counted } = this;
    let length = 0;
    for (let at = 0; at < wordCount; at += 1) {
      const word = found[at] ?? 0;
      const count = records[word + COUNT] ?? 0;
      // Noted again and again until it is counted: whether it is new cannot be foreseen, and guessing costs the processor more.
      countedWords[counted] = word;
      counted += (count - 1) >>> 31;
      records[word + COUNT] = count + weight;
      if (records[word + SECOND] !== 0) length += 1;
    }
    this.counted = counted;
    return length;
  }

  /** Finds the words of a text, and gives how many they are. */
  read(text: string): number {
    const [scanner, words, recent] = [this.#scanner, this.words, this.#recent];
    const { key } = scanner;
    scanner.open(text);
    if (scanner.wordCount > this.found.length) this.found = new Int32Array(2 * scanner.wordCount);
    const { found } = this;
    let count = 0;
    while (scanner.next()) {
      const place = key.hash & (RECENT - 1);
      let word = recent[place] ?? 0;
      if (!words.isAt(word, key)) {
        word = words.find(key);
        if (word === 0) word = this.#add(scanner);
        recent[place] = word;
      }
      found[count] = word;
      count += 1;
    }
    return count;
  }

  #makeRoom(least: number): void {
    const larger = new Int32Array(2 * least);
    larger.set(this.countedWords);
    this.countedWords = larger;
  }

  #add(scanner: WordScanner): number {
    const first = this.#listed;
    if (scanner.isAscii) {
      const ascii = this.#ascii;
      const count = ascii.open(scanner.bytes, scanner.start, scanner.end);
      for (let index = 0; index < count; index += 1) this.#addTerm(ascii.read(index), first);
    } else {
      for (const term of this.#analyzer.termsOf(scanner.word)) this.#addTerm(keyOf(term), first);
    }
    const word = this.words.add(scanner.key);
    this.words.setNumber(word, FIRST, first);
    this.words.setNumber(word, SECOND, this.#listed - first);
    return word;
  }

  /** Lists a term, unless the word whose terms are listed from `first` on has it. */
  #addTerm(key: WordKey, first: number): void {
    const { terms } = this;
    let term = terms.find(key);
    if (term === 0) {
      const number = terms.size;
      term = terms.add(key);
      terms.setNumber(term, FIRST, number);
    }
    const number = terms.numberOf(term, FIRST);
    for (let at = first; at < this.#listed; at += 1) if (this.lists[at] === number) return;
    if (this.#listed === this.lists.length) {
      const larger = new Uint32Array(2 * this.#listed);
      larger.set(this.lists);
      this.lists = larger;
    }
    this.lists[this.#listed++] = number;
  }
}

function keyOf(term: string): WordKey {
  const bytes = Buffer.from(term + '\0'.repeat(PADDING));
  const key = new WordKey();
  key.read(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length - PADDING);
  return key;
}
