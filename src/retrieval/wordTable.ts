/**
 * Finds numbers by words without making strings of the words: a text is full of words that were seen before, and cutting each
 * out and hashing it for a Map takes three times as long as all the rest of indexing.
 */
export class WordTable {
  #slots = new Int32Array(1 << 12);
  #hashes = new Int32Array(1 << 11);
  /** Where each entry's word begins among the units, and its numbers among the numbers; one more than there are entries. */
  #units = new Uint16Array(1 << 14);
  #unitStarts = new Uint32Array(1 << 11);
  #numbers = new Uint32Array(1 << 12);
  #numberStarts = new Uint32Array(1 << 11);
  #size = 0;

  /** The entry of the word between two places of a text, or -1. `hash` is what `scanWords` gave. */
  find(text: string, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const hashes = this.#hashes;
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = (slots[slot] ?? 0) - 1;
      if (entry < 0) return -1;
      if (hashes[entry] === hash && this.#isAt(entry, text, start, end)) return entry;
    }
  }

  /** Adds a word that is not there, and gives its entry. */
  add(word: string, hash: number, numbers: readonly number[]): number {
    const entry = this.#size++;
    const [unit, number] = [this.#unitStarts[entry] ?? 0, this.#numberStarts[entry] ?? 0];
    this.#makeRoom(unit + word.length, number + numbers.length);
    for (let at = 0; at < word.length; at += 1) this.#units[unit + at] = word.charCodeAt(at);
    this.#numbers.set(numbers, number);
    this.#hashes[entry] = hash;
    this.#unitStarts[entry + 1] = unit + word.length;
    this.#numberStarts[entry + 1] = number + numbers.length;
    this.#insert(entry);
    return entry;
  }

  /** The place of an entry's first number, and behind its last, for `numberAt`. */
  numbersFrom(entry: number): number {
    return this.#numberStarts[entry] ?? 0;
  }

  numbersTo(entry: number): number {
    return this.#numberStarts[entry + 1] ?? 0;
  }

  numberAt(place: number): number {
    return this.#numbers[place] ?? 0;
  }

  #isAt(entry: number, text: string, start: number, end: number): boolean {
    const units = this.#units;
    const from = this.#unitStarts[entry] ?? 0;
    if ((this.#unitStarts[entry + 1] ?? 0) - from !== end - start) return false;
    for (let at = start; at < end; at += 1) {
      if (units[from + at - start] !== text.charCodeAt(at)) return false;
    }
    return true;
  }

  #insert(entry: number): void {
    const mask = this.#slots.length - 1;
    let slot = (this.#hashes[entry] ?? 0) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = entry + 1;
  }

  #makeRoom(units: number, numbers: number): void {
    if (units > this.#units.length) {
      const larger = new Uint16Array(Math.max(units, this.#units.length * 2));
      larger.set(this.#units);
      this.#units = larger;
    }
    if (numbers > this.#numbers.length) this.#numbers = widened(this.#numbers, numbers);
    if (this.#size + 1 > this.#unitStarts.length) {
      this.#unitStarts = widened(this.#unitStarts, this.#size + 1);
      this.#numberStarts = widened(this.#numberStarts, this.#size + 1);
      const hashes = new Int32Array(this.#unitStarts.length);
      hashes.set(this.#hashes);
      this.#hashes = hashes;
    }
    // Half full at most, so that what is not there is found out soon.
    if (this.#size * 2 <= this.#slots.length) return;
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let entry = 0; entry < this.#size - 1; entry += 1) this.#insert(entry);
  }
}

function widened(values: Uint32Array, least: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.max(least, values.length * 2));
  larger.set(values);
  return larger;
}
