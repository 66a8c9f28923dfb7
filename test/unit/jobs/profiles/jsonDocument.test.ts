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

test('every form of a value is read, and none that RFC 8259 does not have', () => {
  for (const text of [
    '0',
    '-0',
    '1e5',
    '1E-5',
    '1.5e+3',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"',
    '\t{\r\n}\n',
    '[[],{}]',
    '""',
  ]) {
    assert.deepEqual(parseJsonDocument(text).value, JSON.parse(text), text);
  }
  for (const text of [
    '01',
    '1.',
    '.5',
    '+1',
    '-',
    "'a'",
    '"\\x"',
    '"\\u00g0"',
    '"a',
    'True',
    'nul',
    '[1,]',
    '{"a":}',
    '{1:2}',
    '[,]',
    '\u00a01',
    '//',
  ]) {
    assert.throws(() => parseJsonDocument(text), { name: 'Error', message: /^Expected / }, text);
    assert.throws(() => JSON.parse(text), text);
  }
});

test('values may be nested 32 deep', () => {
  const nested = (depth: number): string => '['.repeat(depth) + '1' + ']'.repeat(depth);
  assert.deepEqual(parseJsonDocument(nested(32)).value, JSON.parse(nested(32)));
  assert.throws(() => parseJsonDocument(nested(33)), { message: 'Values are nested more than 32 deep.', offset: 33 });
});

test('each value has its beginning and end, and a list its elements by number', () => {
  const text = ' {"a": [1, "é"], "b": null} ';
  const root = parseJsonDocument(text);
  const textOf = ({ start, end }: { start: number; end: number }): string => text.slice(start, end);
  assert.equal(textOf(root), text.trim());
  const list = findNode(root, ['a']);
  assert.deepEqual([textOf(list), [...list.children.keys()]], ['[1, "é"]', [0, 1]]);
  assert.deepEqual([textOf(findNode(root, ['a', 0])), textOf(findNode(root, ['b']))], ['1', 'null']);
  assert.equal(root.nameStart, undefined);
  assert.equal(findNode(root, ['none', 'deeper']), root);
});

test('what was found is shown up to twenty characters', () => {
  assert.throws(() => parseJsonDocument(`[${'x'.repeat(30)}]`), {
    message: `Expected a value, found ${'x'.repeat(20)}.`,
    offset: 1,
  });
  assert.throws(() => parseJsonDocument('{"a": 1 :}'), { message: 'Expected "," or "}", found :.' });
});
