import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Highlighter } from '../../../../src/extension/search/highlights.ts';
import { parseQuery } from '../../../../src/retrieval/search/query.ts';

const words = (text: string, query: string): string[] => {
  const lines = text.split('\n');
  return new Highlighter(parseQuery(query, { isTyping: true }))
    .find(text)
    .map(({ line, start, end }) => (lines[line] ?? '').slice(start, end));
};

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
  const highlighter = new Highlighter(parseQuery('retry delay'));
  assert.equal(highlighter.bestLine('retry\nother\nthe delay of a retry\nretry'), 2);
  assert.equal(highlighter.bestLine('\n}\n  else\n'), 2);
  assert.equal(highlighter.bestLine(''), 0);
});
