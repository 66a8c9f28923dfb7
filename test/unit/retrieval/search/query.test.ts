import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuery } from '../../../../src/retrieval/search/query.ts';
import { seeded } from '../../../random.ts';

const read = (text: string, isTyping = false): object => {
  const { text: words, prefixes, phrases, paths } = parseQuery(text, { isTyping });
  return { words, prefixes, phrases, all: paths.acceptsAll };
};

test('words, prefixes, phrases and filters are distinguished', () => {
  assert.deepEqual(read('retry "the delay" back*'), {
    words: 'retry the delay back*',
    prefixes: ['back'],
    phrases: ['the delay'],
    all: true,
  });
  assert.deepEqual(read('path:src lang:ts retry'), { words: 'retry', prefixes: [], phrases: [], all: false });
  assert.deepEqual(read('foo.bar*'), { words: 'foo.bar*', prefixes: ['bar'], phrases: [], all: true });
});

test('what looks like no syntax is words', () => {
  for (const text of ['std::vector', 'foo:bar', 'http://path:80', 'a-path:x', '* ** *', '"', '"=>"', 'path:', '-']) {
    const { prefixes, phrases, paths } = parseQuery(text);
    assert.deepEqual([prefixes, phrases, paths.acceptsAll], [[], [], true], text);
  }
  assert.equal(parseQuery('say "unfinished phrase').text, 'say " unfinished phrase');
});

test('while it is typed, the last word stands for all that begin with it', () => {
  const typed = (text: string): readonly string[] => parseQuery(text, { isTyping: true }).prefixes;
  assert.deepEqual(typed('find retr'), ['retr']);
  assert.deepEqual(typed('foo.ba'), ['ba']);
  assert.deepEqual(typed('say "unfinished phr'), ['phr']);
  for (const text of ['', 'done ', 'call(', '"a phrase"', 'retry path:sr', '😀'])
    assert.deepEqual(typed(text), [], text);
});

test('filters choose files by a part of the path, a pattern or a language', () => {
  const accepts = (filter: string, path: string): boolean => parseQuery(filter).paths.accepts(path);
  const paths = ['src/core/errors.ts', 'src/core/deep/er/Errors.test.ts', 'docs/My Notes.md', 'lib/a.py', 'Makefile'];
  const chosen = (filter: string): number[] => paths.flatMap((path, at) => (accepts(filter, path) ? [at] : []));
  const expected: Readonly<Record<string, number[]>> = {
    'path:core': [0, 1],
    'path:CORE/errors': [0],
    'path:"my notes"': [2],
    '-path:core': [2, 3, 4],
    'path:src path:test': [1],
    'path:src -path:*.test.ts': [0],
    'path:*.ts': [0, 1],
    'path:core/*.ts': [0],
    'path:core/**/*.ts': [0, 1],
    'path:src/**': [0, 1],
    'path:/core/**': [],
    'path:**': [0, 1, 2, 3, 4],
    'path:er*s.ts': [0],
    'lang:ts': [0, 1],
    'lang:TypeScript lang:python': [0, 1, 3],
    '-lang:ts': [2, 3, 4],
    'lang:md': [2],
    'lang:constructor': [],
  };
  for (const [filter, which] of Object.entries(expected)) assert.deepEqual(chosen(filter), which, filter);
});

test('patterns match what the same regular expression does', () => {
  const random = seeded(9);
  const pick = (from: readonly string[], most: number): string =>
    Array.from({ length: 1 + random(most) }, () => from[random(from.length)]).join('');
  for (let round = 0; round < 20_000; round += 1) {
    const path = `${pick(['a', 'b', '/'], 9)}a`;
    const glob = pick(['a', 'b', '/', '*', '**', '**/'], 5).replaceAll(/\*{3,}/g, '**');
    if (!glob.includes('*')) continue;
    const expression = glob
      .replace(/^\//, '^')
      .replaceAll(/(?<=^|\^|\/)\*\*\//g, '(?:.>/)?')
      .replaceAll('**', '.>')
      .replaceAll('*', '[^/]*')
      .replaceAll('>', '*');
    const expected = new RegExp(`${glob.startsWith('/') ? '' : '^(?:.*/)?'}${expression}$`).test(path);
    assert.equal(parseQuery(`path:${glob}`).paths.accepts(path), expected, `${glob} ${path} ${expression}`);
  }
});

test('a pattern of many stars takes no longer than it has to', () => {
  const filter = parseQuery(`path:${'*a'.repeat(200)}b path:${'**/a'.repeat(100)}b`).paths;
  assert.equal(filter.accepts(`${'a'.repeat(300)}/${'a/'.repeat(300)}`), false);
});
