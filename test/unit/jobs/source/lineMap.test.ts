import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from '../../../random.ts';
import { compareLines, toCurrentLine, toOlderLine } from '../../../../src/jobs/source/lineMap.ts';

const OLDER = 'one\ntwo\nthree\nfour\nfive';
function mapLine(older: string, current: string, at: number) {
  const map = compareLines(older, current);
  return map && toCurrentLine(map, at);
}

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

test('for random edits, each line that is kept maps to the same text, and back to where it came from', () => {
  const below = seeded(49);
  for (let round = 0; round < 300; round += 1) {
    // Few different lines, so that many are equal.
    const older = Array.from({ length: below(30) }, () => `line ${below(6)}`);
    const current = older.flatMap((text) => {
      const edit = below(8);
      return edit === 0 ? [] : edit === 1 ? [`new ${below(3)}`, text] : edit === 2 ? [`changed ${below(3)}`] : [text];
    });
    const map = compareLines(older.join('\n'), current.join(round % 2 === 0 ? '\n' : '\r\n'));
    assert.ok(map);
    let last = 0;
    for (let at = 1; at <= older.length; at += 1) {
      const mapped = toCurrentLine(map, at);
      assert.ok(mapped.line >= 1 && mapped.line <= Math.max(1, current.length));
      if (mapped.isDeleted) continue;
      assert.equal(current[mapped.line - 1], older[at - 1]);
      assert.equal(toOlderLine(map, mapped.line), at);
      assert.ok(mapped.line > last, 'the order of the lines is kept');
      last = mapped.line;
    }
    for (let at = 1; at <= current.length; at += 1) {
      const back = toOlderLine(map, at);
      if (back !== undefined) assert.deepEqual(toCurrentLine(map, back), line(at));
    }
  }
});

test('of a text that was replaced entirely, no line is left', () => {
  const map = compareLines(OLDER, 'nothing\nof\nit\n');
  assert.ok(map);
  assert.equal(
    [1, 2, 3, 4, 5].every((at) => toCurrentLine(map, at).isDeleted),
    true,
  );
  assert.equal(toOlderLine(map, 2), undefined);
  const empty = compareLines(OLDER, '');
  assert.deepEqual(empty && toCurrentLine(empty, 3), deleted(1));
});
