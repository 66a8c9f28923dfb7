import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNode, parseJsonDocument } from '../../../../src/jobs/profiles/jsonDocument.ts';

test('a text has the same value as with JSON.parse', () => {
  for (const text of [
    '{}',
    '[]',
    ' [1, -2.5e3, "a\\u0062\\n", true, false, null] ',
    '{"a": {"b": [{"c": ""}]}, "__proto__": 1}',
  ]) {
    assert.deepEqual(parseJsonDocument(text).value, JSON.parse(text), text);
  }
});

test('each value and each name has its position', () => {
  const text = '{ "a": [10, {"b": "x"}] }';
  const root = parseJsonDocument(text);
  const b = findNode(root, ['a', 1, 'b']);
  assert.equal(text.slice(b.start, b.end), '"x"');
  assert.equal(b.nameStart, text.indexOf('"b"'));
  assert.equal(findNode(root, ['a', 7, 'b']), findNode(root, ['a']));
});

test('an error says what was expected and where', () => {
  const cases: readonly (readonly [text: string, message: string, offset: number])[] = [
    ['', 'Expected a value, found the end of the file.', 0],
    ['{"a": 1,}', 'Expected a name in quotes, found }.', 8],
    ['{"a" 1}', 'Expected ":", found 1.', 5],
    ['[1 2]', 'Expected "," or "]", found 2.', 3],
    ['[1', 'Expected "," or "]", found the end of the file.', 2],
    ['{"a": 1, "a": 2}', 'The name "a" occurs twice.', 9],
    ['{} x', 'Expected a value, found x.', 3],
    ['{} 1', 'Expected the end of the file, found 1.', 3],
    ['["a\nb"]', 'Expected a value, found "a.', 1],
    ['{a: 1}', 'Expected a value, found a.', 1],
  ];
  for (const [text, message, offset] of cases) {
    assert.throws(() => parseJsonDocument(text), { message, offset }, text);
  }
});

test('deeply nested values are refused instead of exhausting the stack', () => {
  assert.throws(() => parseJsonDocument('['.repeat(100_000)), /nested more than 32 deep/);
});
