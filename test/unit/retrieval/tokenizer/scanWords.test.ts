import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scanWords } from '../../../../src/retrieval/tokenizer/scanWords.ts';
import { seeded } from '../../../random.ts';

function wordsOf(text: string): string[] {
  const words: string[] = [];
  scanWords(text, (word) => words.push(word));
  return words;
}

test('every word of a text is visited once, and odd text is no error', () => {
  assert.deepEqual(wordsOf('one, two\uD800 (three_3) 😀 𝒳y \uDC00'), ['one', 'two', 'three_3', '𝒳y']);
  assert.deepEqual(wordsOf('größe=検索機能; $x-ñ'), ['größe', '検索機能', '$x', 'ñ']);
  for (const text of ['', ' ', '\uD800', '\uDC00\uD800', '—…', '\0']) assert.deepEqual(wordsOf(text), []);
});

test('a word is reported with its location in the text', () => {
  const text = 'one 😀 one ßone\uD800one 検索';
  const places: string[] = [];
  scanWords(text, (word, start) => {
    assert.equal(text.slice(start, start + word.length), word);
    places.push(`${word} ${start}`);
  });
  assert.deepEqual(places, ['one 0', 'one 7', 'ßone 11', 'one 16', '検索 20']);
});

test('words are what a regular expression for letters, marks and digits finds', () => {
  const random = seeded(41);
  const characters = Array.from('aZ09_$ .-\n\tßéИ検\u0301٣Ⅷ²😀𝒳\uD800\0');
  for (let round = 0; round < 3000; round += 1) {
    const text = Array.from({ length: random(40) }, () => characters[random(characters.length)]).join('');
    assert.deepEqual(wordsOf(text), text.toWellFormed().match(/[\p{L}\p{N}\p{M}_$]+/gu) ?? [], JSON.stringify(text));
  }
});
