import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Highlighter } from '../../../../src/retrieval/index/highlights.ts';
import { parseQuery } from '../../../../src/retrieval/search/query.ts';

const words = (text: string, query: string): string[] => {
  const lines = text.split('\n');
  return new Highlighter(parseQuery(query, { isTyping: true }))
    .matchesOf(text)
    .highlights.map(({ line, start, end }) => (lines[line] ?? '').slice(start, end));
};

const bestLine = (text: string, query: string): number => new Highlighter(parseQuery(query)).matchesOf(text).bestLine;

test('the words of a query are marked in every form that the search takes for the same', () => {
  assert.deepEqual(words('parseConfig(x) // parsing a config\nunrelated', 'parse configs'), [
    'parseConfig',
    'parsing',
    'config',
  ]);
});

test('a word that is being typed marks the words that begin with it, and parts that do', () => {
  assert.deepEqual(words('connection pool\nreconnect\nopenConnection', 'conn'), ['connection', 'openConnection']);
});

test('filters mark nothing, phrases mark their words', () => {
  assert.deepEqual(words('src of the dead letter', '"dead letter" path:src'), ['dead', 'letter']);
});

test('the best line holds most of the query, and is the first that says something where none holds any', () => {
  assert.equal(bestLine('retry\nother\nthe delay of a retry\nretry', 'retry delay'), 2);
  assert.equal(bestLine('\n}\n  else\n', 'retry delay'), 2);
  assert.equal(bestLine('', 'retry delay'), 0);
});

test('words that code uses for those of the query are marked, and count less than these for the best line', () => {
  const text = 'fs.unlink(path)\nthe deleted path\nrest';
  assert.deepEqual(words(text, 'deleted'), ['unlink', 'deleted']);
  assert.equal(bestLine(text, 'deleted'), 1);
  assert.equal(bestLine('rest\nfs.unlink(path)', 'deleted'), 1);
});
