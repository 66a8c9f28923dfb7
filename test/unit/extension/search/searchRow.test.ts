import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Highlighter } from '../../../../src/retrieval/index/highlights.ts';
import { searchRow as rowOf, type SearchRow } from '../../../../src/extension/search/searchRow.ts';
import type { SearchHit } from '../../../../src/retrieval/server/indexServer.ts';

const hit = (text: string, more: Partial<SearchHit> = {}): SearchHit => ({
  folder: '/project',
  path: 'src/queue.ts',
  startLine: 10,
  endLine: 10 + text.split('\n').length - 1,
  score: 1,
  text,
  symbols: ['drain'],
  scope: ['Queue'],
  ...more,
});
const searchRow = (found: SearchHit, options?: Parameters<typeof rowOf>[2]): SearchRow =>
  rowOf(found, new Highlighter({ text: 'dead letter', prefixes: [] }).matchesOf(found.text), options);

test('a row shows the line that was meant, and below it where it is and what it belongs to', () => {
  const row = searchRow(hit('drain() {\n  return this.deadLetter;\n}'));
  assert.deepEqual(row, { label: 'return this.deadLetter;', detail: 'src/queue.ts:11 · Queue · drain', line: 11 });
});

test('where several folders are open the row names the folder', () => {
  assert.match(searchRow(hit('dead'), { folderName: 'api' }).detail, /^api\/src\/queue\.ts:10/);
});

test('a row says how many other places its file has, and why it is where it is only if that was asked for', () => {
  const place = { startLine: 40, endLine: 41, score: 0.5 };
  const reasons = {
    keywords: 20,
    name: 0,
    folder: 0,
    definition: 0,
    mention: 0,
    history: 5,
    meaning: 0,
    role: 'test',
    factor: 0.4,
  } as const;
  const found = hit('dead', { more: [place, place], score: 10, reasons });
  assert.equal(searchRow(found).detail, 'src/queue.ts:10 · Queue · drain · 2 more in this file');
  assert.equal(
    searchRow(found, { isExplained: true }).detail,
    'src/queue.ts:10 · 10.0 = 0.4 (test) × (20.0 keywords + 5.0 past commits)',
  );
});

test('a long line is shown from near the word that was asked for', () => {
  const { label } = searchRow(hit(`${'x '.repeat(300)}letter${' y'.repeat(300)}`));
  assert.match(label, /^….*letter.*…$/);
  assert.ok(label.length < 200);
});

test('neither icons nor control characters of a file reach the list', () => {
  const { label, detail } = searchRow(hit('letter $(trash) \u001b[31mred\u202e', { path: 'a$(x).ts' }));
  assert.doesNotMatch(label + detail, /\$\(|\u001B|\u202E/);
});
