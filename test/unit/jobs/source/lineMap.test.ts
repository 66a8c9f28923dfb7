import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapLine } from '../../../../src/jobs/source/currentLine.ts';

const OLDER = 'one\ntwo\nthree\nfour\nfive';
const line = (at: number) => ({ line: at, isDeleted: false });
const deleted = (at: number) => ({ line: at, isDeleted: true });

test('a line is where it is after lines before it were added, removed or changed', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5].map((at) => mapLine(OLDER, OLDER, at)),
    [1, 2, 3, 4, 5].map(line),
  );
  const added = OLDER.replace('two', 'new\nnewer\ntwo');
  assert.deepEqual([mapLine(OLDER, added, 1), mapLine(OLDER, added, 2), mapLine(OLDER, added, 5)], [1, 4, 7].map(line));
  const removed = OLDER.replace('two\nthree\n', '');
  assert.deepEqual([mapLine(OLDER, removed, 1), mapLine(OLDER, removed, 4)], [1, 2].map(line));
  const changed = OLDER.replace('two', 'TWO');
  assert.deepEqual(mapLine(OLDER, changed, 3), line(3));
  assert.deepEqual(mapLine(OLDER, OLDER.replaceAll('\n', '\r\n'), 4), line(4));
});

test('a line that was removed or changed is shown where it was', () => {
  const removed = OLDER.replace('two\nthree\n', '');
  assert.deepEqual([mapLine(OLDER, removed, 2), mapLine(OLDER, removed, 3)], [2, 2].map(deleted));
  assert.deepEqual(mapLine(OLDER, OLDER.replace('two', 'TWO'), 2), deleted(2));
  assert.deepEqual(mapLine(OLDER, 'one\ntwo', 5), deleted(2), 'at the end');
  assert.deepEqual(mapLine(OLDER, OLDER, 6), deleted(5), 'a line that never was');
});
