import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutToWidth, padToWidth, textWidth } from '../../../../src/core/text/textWidth.ts';

const WIDTHS: readonly (readonly [string, number])[] = [
  ['', 0],
  ['train.py', 8],
  ['café', 4],
  ['cafe\u0301', 4],
  ['東京', 4],
  ['서울', 4],
  ['ｆｕｌｌ', 8],
  ['ﾊﾝｶｸ', 4],
  ['🚀', 2],
  ['👩‍🔬', 2],
  ['🇫🇷', 2],
  ['❤️', 2],
  ['█░', 2],
  ['a\u200bb', 2],
  ['…', 1],
];

test('a text is as wide as a terminal shows it', () => {
  for (const [text, width] of WIDTHS) assert.equal(textWidth(text), width, JSON.stringify(text));
});

test('a cut text fits, ends with an ellipsis and never has half a character', () => {
  assert.equal(cutToWidth('train.py', 8), 'train.py');
  assert.equal(cutToWidth('train.py', 6), 'train…');
  assert.equal(cutToWidth('東京大学', 6), '東京…');
  assert.equal(cutToWidth('a👩‍🔬b', 3), 'a…');
  assert.equal(cutToWidth('train.py', 1), '…');
  assert.equal(cutToWidth('train.py', 0), '');
});

test('a padded text lines up with others', () => {
  assert.equal(padToWidth('東京', 6), '東京  ');
  assert.equal(padToWidth('7', 3, 'right'), '  7');
  assert.equal(padToWidth('longer', 3), 'longer');
});

test('a text is cut and padded at its exact width', () => {
  assert.deepEqual(
    [7, 8, 9].map((width) => cutToWidth('train.py', width)),
    ['train.…', 'train.py', 'train.py'],
  );
  assert.deepEqual(
    [5, 7, 8].map((width) => cutToWidth('東京大学', width)),
    ['東京…', '東京大…', '東京大学'],
  );
  assert.equal(cutToWidth('abc', -1), '');
  assert.deepEqual(
    [2, 3, 4].map((width) => padToWidth('abc', width)),
    ['abc', 'abc', 'abc '],
  );
  assert.equal(padToWidth('東', 4, 'right'), '  東');
  assert.equal(textWidth('é\u0007é'), 2);
});
