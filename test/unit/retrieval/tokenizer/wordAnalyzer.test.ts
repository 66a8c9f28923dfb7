import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WordAnalyzer } from '../../../../src/retrieval/tokenizer/wordAnalyzer.ts';

const terms = (word: string): readonly string[] => new WordAnalyzer().termsOf(word);

test('an identifier is a term as a whole and in its parts', () => {
  assert.deepEqual(terms('parseRetryAfter'), ['parseretryaft', 'pars', 'retri', 'after']);
  assert.deepEqual(terms('max_retries'), ['max_retri', 'max', 'retri']);
  assert.deepEqual(terms('HTTPServer2'), ['httpserver2', 'http', 'server', '2']);
  assert.deepEqual(terms('__init__'), ['init']);
  assert.deepEqual(terms('plain'), ['plain']);
});

test('words are stemmed, so that forms of one word meet', () => {
  assert.deepEqual(terms('retries'), terms('retry'));
  assert.deepEqual(terms('Packing'), terms('packed'));
});

test('words of any script count, Chinese, Japanese and Korean by pairs', () => {
  assert.deepEqual(terms('größe'), ['gross']);
  assert.deepEqual(terms('検索機能'), ['検索', '索機', '機能']);
  assert.deepEqual(terms('字'), ['字']);
  assert.deepEqual(terms('api検索'), ['api', '検索']);
  assert.ok(terms(`${'検索機能'.repeat(50)}終`).includes('能終'), 'a clause may be long');
});

test('no stem ends within a character', () => {
  assert.deepEqual(terms('taကed'), ['taက']);
  assert.deepEqual(terms('ta𐀀ing'), ['ta𐀀']);
});

test('hashes and other endless words are no terms', () => {
  assert.deepEqual(terms('a'.repeat(65)), []);
  assert.deepEqual(terms('___'), []);
});

test('a query loses its stop words unless it has nothing else', () => {
  const query = (text: string): readonly string[] => new WordAnalyzer().queryTerms(text);
  assert.deepEqual(query('where is the archive'), ['archiv']);
  assert.deepEqual(query('to be or not to be'), ['to', 'be', 'or', 'not']);
  assert.deepEqual(
    query("the user's keys, and James’s"),
    ['user', 'key', 'jame'],
    'nor is the s of a possessive a word',
  );
  assert.deepEqual(query("print('s')"), ['print', 's']);
  assert.deepEqual(query('😀 !!'), []);
});
