// The text to learn from: every text file of the folder, as numbers.
import { readFile, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';

const OWN_OUTPUT = /^samples\b/; // a model that reads its own samples learns its own mistakes
const SMALLEST_CORPUS = 2_000;
const MOST_CHARACTERS = 256; // one byte for each character of the text
const HELD_OUT = 0.1;

/**
 * Reads all `.txt` files below `folder`. The last tenth of each file is held out: the model never learns from it, and
 * its loss there tells whether it learned the language or only the text by heart.
 *
 * @throws {Error} with a sentence for people, when there is no text or too little of it
 */
export async function readCorpus(/** @type {string} */ folder, /** @type {number} */ context) {
  const files = await findTextFiles(folder);
  if (files.length === 0) {
    throw new Error(`There is no text to learn from: put one or more .txt files into ${folder}.`);
  }
  const texts = await Promise.all(files.map(async (file) => (await readFile(file, 'utf8')).replaceAll('\r\n', '\n')));
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length < SMALLEST_CORPUS) {
    throw new Error(
      `There is too little text to learn from: ${length} characters in ${files.length} files, and at least ` +
        `${SMALLEST_CORPUS} are needed. Put more .txt files into ${folder}.`,
    );
  }

  const characters = mostFrequent(texts);
  const codes = new Map(characters.map((character, code) => [character, code]));
  const train = [];
  const heldOut = [];
  for (const text of texts) {
    const numbers = Uint8Array.from([...text].flatMap((character) => codes.get(character) ?? []));
    const cut = Math.floor(numbers.length * (1 - HELD_OUT));
    train.push(numbers.subarray(0, cut));
    heldOut.push(numbers.subarray(Math.max(0, cut - context)));
  }
  return {
    files: files.map((file) => relative(folder, file)),
    length,
    characters,
    codes,
    train: new Examples(train, context),
    heldOut: new Examples(heldOut, context),
  };
}

/** Every place in some texts that has enough text before it, as a pair of context and next character. */
class Examples {
  constructor(/** @type {Uint8Array[]} */ texts, /** @type {number} */ context) {
    this.context = context;
    this.text = Uint8Array.from(texts.flatMap((text) => [...text]));
    this.places = [];
    let start = 0;
    for (const { length } of texts) {
      for (let place = start + context; place < start + length; place++) this.places.push(place);
      start += length;
    }
  }

  get size() {
    return this.places.length;
  }

  /** `count` examples, chosen by `choose`, which gives an index below `size` for each. */
  batch(/** @type {number} */ count, /** @type {(row: number) => number} */ choose) {
    const contexts = new Uint8Array(count * this.context);
    const targets = new Uint8Array(count);
    for (let row = 0; row < count; row++) {
      const place = this.places[choose(row)];
      contexts.set(this.text.subarray(place - this.context, place), row * this.context);
      targets[row] = this.text[place];
    }
    return { contexts, targets };
  }
}

async function findTextFiles(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.txt') && !OWN_OUTPUT.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !relative(folder, file).split(/[\\/]/).includes('node_modules'))
    .sort();
}

/** The characters of the texts, in the order of the alphabet; the rarest are left out when there are very many. */
function mostFrequent(texts) {
  const counts = new Map();
  for (const text of texts) for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.keys()]
    .sort((a, b) => counts.get(b) - counts.get(a))
    .slice(0, MOST_CHARACTERS)
    .sort();
}
