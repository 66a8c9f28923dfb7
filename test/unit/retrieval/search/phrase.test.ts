import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdsPhrases } from '../../../../src/retrieval/search/phrase.ts';

const holds = (text: string, ...phrases: readonly string[]): boolean => holdsPhrases(text, phrases);

test('a text has a phrase if its words follow each other, whatever is between them', () => {
  const text = 'Learning Rate:\n  decays over_time, rate again';
  for (const phrase of ['learning rate', 'RATE decays', 'decays', 'rate, again', '']) {
    assert.equal(holds(text, phrase), true, phrase);
  }
  for (const phrase of [
    'rate learning',
    'learning decays',
    'earning rate',
    'learning rat',
    'again and',
    'again rate',
  ]) {
    assert.equal(holds(text, phrase), false, phrase);
  }
  assert.equal(holds('', 'a'), false);
  assert.equal(holds('Müller Strasse', 'muller strasse'), true);
});

test('a text needs every phrase', () => {
  assert.equal(holds('one two three', 'one two', 'two three'), true);
  assert.equal(holds('one two three', 'one two', 'one three'), false);
  assert.equal(holds('anything'), true);
});

test('in a script without spaces, a phrase begins and ends within a run of characters', () => {
  const text = '機械学習 深層学習 強化学習';
  for (const phrase of ['械学', '学習 深層', '学習 深層学習 強化', '機械学習 深層学習', '習 深層学習 強']) {
    assert.equal(holds(text, phrase), true, phrase);
  }
  for (const phrase of ['機械 深層', '学習 層学', '学習 深層 強化', '械学 強化', '層 強']) {
    assert.equal(holds(text, phrase), false, phrase);
  }
});
