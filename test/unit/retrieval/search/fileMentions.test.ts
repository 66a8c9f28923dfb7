import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mentionedFiles } from '../../../../src/retrieval/ranking/mentionedFiles.ts';
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
    '  at file:///C:/work/src/core/retry.ts:3:1': 'src/core/retry.ts:3',
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
