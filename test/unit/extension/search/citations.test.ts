import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCitations } from '../../../../src/extension/search/citations.ts';
import type { Excerpt } from '../../../../src/extension/search/excerpts.ts';

const excerpt = (number: number, path: string): Excerpt => ({
  number,
  path,
  file: `/project/${path}`,
  startLine: 10,
  endLine: 20,
  text: '',
});
const excerpts = [excerpt(1, 'src/a.ts'), excerpt(2, 'lib/src/a.ts'), excerpt(3, 'docs/über uns.md')];
const cited = (text: string): string[] =>
  findCitations(text, excerpts).map(
    ({ start, end, file, firstLine, lastLine }) => `${text.slice(start, end)} = ${file} ${firstLine}-${lastLine}`,
  );

test('paths with a line, a range or a fragment are citations', () => {
  assert.deepEqual(cited('See src/a.ts:12, `src/a.ts:12-15` and (src/a.ts#L3-L4).'), [
    'src/a.ts:12 = /project/src/a.ts 12-12',
    'src/a.ts:12-15 = /project/src/a.ts 12-15',
    'src/a.ts#L3-L4 = /project/src/a.ts 3-4',
  ]);
});

test('a path that ends like another one is not taken for it', () => {
  assert.deepEqual(cited('lib/src/a.ts:1 and other/src/a.ts:1'), ['lib/src/a.ts:1 = /project/lib/src/a.ts 1-1']);
});

test('paths may have blanks and letters of any script', () => {
  assert.deepEqual(cited('docs/über uns.md:7'), ['docs/über uns.md:7 = /project/docs/über uns.md 7-7']);
});

test('numbers of excerpts are citations of the whole excerpt, alone or in a list', () => {
  assert.deepEqual(cited('So it is [1, 3].'), ['1 = /project/src/a.ts 10-20', '3 = /project/docs/über uns.md 10-20']);
});

test('what was not sent is no citation, nor is what only looks like one', () => {
  assert.deepEqual(cited('made/up.ts:1, [9], items[1] of src/a.ts, [1](http://x), src/a.ts: no'), []);
});

test('a range that ends before it begins is its first line', () => {
  assert.deepEqual(cited('src/a.ts:9-2'), ['src/a.ts:9-2 = /project/src/a.ts 9-9']);
});
