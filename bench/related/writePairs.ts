// Writes what people wrote about code, and the code, as index terms: `writePairs.ts OUT FOLDER…`, with checkouts of repositories or
// unpacked source packages. `train.py OUT` learns from them which terms are related.
import { createWriteStream, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { isStopWord } from '../../src/retrieval/tokenizer/stopWords.ts';
import { scanWords } from '../../src/retrieval/tokenizer/scanWords.ts';
import { WordAnalyzer } from '../../src/retrieval/tokenizer/wordAnalyzer.ts';
import { commentPairs, hasComments, type Pair } from './commentPairs.ts';
import { commitPairs } from './commitPairs.ts';

const MOST_FILE_BYTES = 400_000;
// So that no repository is more than a few hundredths of all.
const MOST_PAIRS = 60_000;
const MOST_TERMS = 240;
const MOST_WORD = 40;
// Copies of other repositories, and what no person wrote.
const SKIPPED =
  /(?:^|\/)(?:vendor|_vendor|node_modules|third[_-]?party|3rdparty|external?|dist|testdata|fixtures|baselines|snapshots?|locales?)(?:\/|$)|\.min\./i;

const [out = '', ...folders] = process.argv.slice(2);
const analyzer = new WordAnalyzer();
const ids = new Map<string, number>();
const termsOfWord = new Map<string, readonly number[]>();

mkdirSync(out, { recursive: true });
const lists = { about: listFile('about'), code: listFile('code') };
const groups: number[] = [];
const names: string[] = [];
for (const folder of folders) {
  const name = basename(folder);
  const comments = await write(`${name} comments`, commentsOf(folder));
  const commits = await write(`${name} commits`, commitsOf(folder));
  process.stdout.write(`${name}: ${comments} comments, ${commits} commits\n`);
}
writeFileSync(join(out, 'groups.u16'), Uint16Array.from(groups));
writeFileSync(join(out, 'pairs.json'), JSON.stringify({ names, terms: [...ids.keys()] }));
for (const list of Object.values(lists)) list.end();

async function write(name: string, pairs: AsyncIterable<Pair> | Iterable<Pair>): Promise<number> {
  const seen = new Set<string>();
  const group = names.push(name) - 1;
  let count = 0;
  for await (const { about, code } of pairs) {
    // A sentence that describes several functions says too little about each.
    if (count >= MOST_PAIRS || seen.has(`${about} ${code.split('\n', 1)[0] ?? ''}`)) continue;
    seen.add(`${about} ${code.split('\n', 1)[0] ?? ''}`);
    const words = termsOf(about);
    if (words.length < 2) continue;
    lists.about.add(words);
    lists.code.add(termsOf(code));
    groups.push(group);
    count += 1;
  }
  return count;
}

function* commentsOf(folder: string): Generator<Pair, void> {
  const paths = globSync('**', { cwd: folder, exclude: (path) => SKIPPED.test(path) }).filter(hasComments);
  // Evenly over the folder, if there are more than enough.
  for (const path of paths.toSorted((a, b) => hashOf(a) - hashOf(b))) {
    const file = join(folder, path);
    const entry = statSync(file, { throwIfNoEntry: false });
    if (entry?.isFile() !== true || entry.size > MOST_FILE_BYTES) continue;
    for (const { about, code } of commentPairs(path, readFileSync(file, 'utf8'))) {
      yield { about, code: `${path}\n${code}` };
    }
  }
}

async function* commitsOf(folder: string): AsyncGenerator<Pair, void> {
  if (statSync(join(folder, '.git'), { throwIfNoEntry: false }) === undefined) return;
  const all = globSync('**', { cwd: folder, exclude: (path) => SKIPPED.test(path) }).filter(hasComments);
  for await (const pair of commitPairs(folder, [...new Set(all.map((path) => extname(path)))])) {
    if (!SKIPPED.test(pair.code.split('\n', 1)[0] ?? '')) yield pair;
  }
}

/** The numbers of the terms of a text, without stop words. */
function termsOf(text: string): readonly number[] {
  const found: number[] = [];
  scanWords(text, (word) => {
    if (found.length >= MOST_TERMS || word.length > MOST_WORD) return;
    let terms = termsOfWord.get(word);
    if (terms === undefined) {
      terms = isStopWord(word) ? [] : analyzer.termsOf(word).map(idOf);
      termsOfWord.set(word, terms);
    }
    found.push(...terms);
  });
  return found;
}

function idOf(term: string): number {
  let id = ids.get(term);
  if (id === undefined) ids.set(term, (id = ids.size));
  return id;
}

/** A file of lists of numbers, one after the other, and one of where each ends. */
function listFile(name: string): { add: (values: readonly number[]) => void; end: () => void } {
  const values = createWriteStream(join(out, `${name}.u32`));
  const ends: number[] = [];
  let size = 0;
  return {
    add: (list) => {
      values.write(Buffer.from(Uint32Array.from(list).buffer));
      ends.push((size += list.length));
    },
    end: () => {
      values.end();
      writeFileSync(join(out, `${name}Ends.u32`), Uint32Array.from(ends));
    },
  };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}
