import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scanWords } from '../../../src/retrieval/scanWords.ts';
import { WordTable } from '../../../src/retrieval/wordTable.ts';

function wordsOf(text: string): string[] {
  const words: string[] = [];
  scanWords(text, (start, end) => words.push(text.slice(start, end)));
  return words;
}

test('every word of a text is visited once, and odd text is no error', () => {
  assert.deepEqual(wordsOf('one, two\uD800 (three_3) 😀 𝒳y \uDC00'), ['one', 'two', 'three_3', '𝒳y']);
  assert.deepEqual(wordsOf('größe=検索機能; $x-ñ'), ['größe', '検索機能', '$x', 'ñ']);
  for (const text of ['', ' ', '\uD800', '\uDC00\uD800', '—…']) assert.deepEqual(wordsOf(text), []);
});

test('a word has one hash, wherever it is', () => {
  const hashes = new Map<string, Set<number>>();
  const text = 'alpha beta (alpha) beta.alpha 検索 検索';
  scanWords(text, (start, end, hash) => {
    const word = text.slice(start, end);
    hashes.set(word, (hashes.get(word) ?? new Set()).add(hash));
  });
  assert.deepEqual(
    [...hashes.values()].map(({ size }) => size),
    [1, 1, 1],
  );
});

test('a table finds 50,000 words by their places in a text, also those with one hash', () => {
  const table = new WordTable();
  const text = Array.from({ length: 50_000 }, (_, at) => `w${at}`).join(' ');
  const places: [number, number, number][] = [];
  scanWords(text, (start, end, hash) => {
    const crowded = hash & 0xfff_00; // many words share what is left
    assert.equal(table.find(text, start, end, crowded), -1);
    table.add(text.slice(start, end), crowded, start % 3 === 0 ? [] : [start, end]);
    places.push([start, end, crowded]);
  });
  for (const [start, end, hash] of places) {
    const entry = table.find(text, start, end, hash);
    const numbers: number[] = [];
    for (let place = table.numbersFrom(entry); place < table.numbersTo(entry); place += 1)
      numbers.push(table.numberAt(place));
    assert.deepEqual(numbers, start % 3 === 0 ? [] : [start, end]);
  }
});
