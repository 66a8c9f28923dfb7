import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mentionedFiles } from '../../../../src/retrieval/search/mentionedFiles.ts';
import { fileMentions, withoutPositions } from '../../../../src/retrieval/search/fileMentions.ts';

const PATHS = ['src/core/retry.ts', 'src/core/index.ts', 'lib/index.ts', 'app/views.py', 'Makefile', 'cli/Program.cs'];

function found(text: string): string {
  const files = [...mentionedFiles(fileMentions(text), PATHS)].sort(([, a], [, b]) => b.fit - a.fit);
  return files.map(([path, { line }]) => (line === undefined ? path : `${path}:${line}`)).join(' ');
}

test('a path, a file name and a line of a stack trace mention their file', () => {
  const expected: Readonly<Record<string, string>> = {
    'src/core/retry.ts': 'src/core/retry.ts',
    'retry.ts:12': 'src/core/retry.ts:12',
    './core/retry': 'src/core/retry.ts',
    '    at delay (/home/sea/project/src/core/retry.ts:12:7)': 'src/core/retry.ts:12',
    '  at file:///C:/Users/ada/project/src/core/retry.ts:3:1': 'src/core/retry.ts:3',
    '  File "/srv/app/views.py", line 40, in show': 'app/views.py:40',
    'cli\\Program.cs(12,3): error CS1002': 'cli/Program.cs:12',
    'retry.ts#L7': 'src/core/retry.ts:7',
    'see core/index.ts.': 'src/core/index.ts',
    'index.ts': 'src/core/index.ts lib/index.ts',
    'https://example.org/src/core/retry.ts': '',
    'how is a delay computed, e.g. 1.5 s or a/b': '',
  };
  for (const [text, files] of Object.entries(expected)) assert.equal(found(text), files, text);
});

test('of a stack trace, the first lines count most, and a name of many files counts nothing', () => {
  assert.equal(found('at app/views.py:1\nat src/core/retry.ts:2'), 'app/views.py:1 src/core/retry.ts:2');
  const many = Array.from({ length: 9 }, (_, at) => `p${at}/index.ts`);
  assert.equal(mentionedFiles(fileMentions('index.ts'), many).size, 0);
  assert.equal(mentionedFiles(fileMentions('p3/index.ts'), many).size, 1);
});

test('lines, columns and addresses are no words of a query', () => {
  assert.equal(
    withoutPositions('crash at 0x7ffe12ab in retry.ts:12:7, line 40').replaceAll(/\s+/g, ' '),
    'crash at in retry.ts ',
  );
});

test('a megabyte of slashes, quotes or dots takes no long time', () => {
  const started = process.cpuUsage();
  for (const part of ['/', 'a/', '"', '.', 'a.b:', '(1', ', line 1', '\\'])
    fileMentions(part.repeat(1_000_000 / part.length));
  assert.ok(process.cpuUsage(started).user < 10_000_000);
});

test('each form of a mention has its names, the last one first, and its line', () => {
  const of = (text: string) => fileMentions(text).map(({ names, line }) => [names.join(' '), line]);
  for (const [text, ...mentions] of [
    ['a/b.ts', ['b.ts a', undefined]],
    ['A/B.TS', ['b.ts a', undefined]],
    ['a.ts:12', ['a.ts', 12]],
    ['a.ts:12:3', ['a.ts', 12]],
    ['a.rb:12:in', ['a.rb', 12]],
    ['a.ts#L12', ['a.ts', 12]],
    ['a.ts:1-5', ['a.ts', 1]],
    ['a.ts:1–5', ['a.ts', 1]],
    ['a.cs(12,3)', ['a.cs', 12]],
    ['"a.py", line 12', ['a.py', 12]],
    ["'a.py', line 12", ['a.py', 12]],
    ['a.py, line 12', ['a.py', 12]],
    ['a.ts.', ['a.ts', undefined]],
    ['a.ts::', ['a.ts', undefined]],
    ['file:///x/a.ts', ['a.ts x', undefined]],
    ['vscode://x/a.ts', ['a.ts x', undefined]],
    ['C:\\x\\a.ts', ['a.ts x', undefined]],
    ['D:/x/a', ['a x', undefined]],
    ['./../a/./b', ['b a', undefined]],
    ['x=a.ts', ['a.ts', undefined]],
    ['[a.ts](b.ts)', ['a.ts', undefined], ['b.ts', undefined]],
  ] as const) {
    assert.deepEqual(of(text), mentions, text);
  }
  for (const text of [
    '',
    'a',
    'word',
    '1.5',
    '.5',
    'e.',
    'a.1b',
    'http://a/b.ts',
    'HTTPS://a/b',
    'ftp://a/b',
    'ws://a/b',
    'wss://a/b',
    'x.elevenchars',
    '../..',
    '...',
  ]) {
    assert.deepEqual(of(text), [], text);
  }
  assert.deepEqual(of('a.ts:12345678'), [['a.ts:12345678', undefined]].slice(1));
});

test('at most twenty mentions in the first 8,000 characters are read', () => {
  assert.equal(fileMentions('a.ts '.repeat(21)).length, 20);
  assert.equal(fileMentions(`${' '.repeat(7_996)}a.ts`).length, 1);
  assert.equal(fileMentions(`${' '.repeat(7_998)}a.ts`).length, 0);
  assert.deepEqual(fileMentions(`${'a'.repeat(397)}.ts`).length, 1);
});
