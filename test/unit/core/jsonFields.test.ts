import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fieldOf,
  numberField,
  parseJson,
  parseOwnJson,
  textField,
  tryParseJson,
} from '../../../src/core/jsonFields.ts';

test('a text field is text that is not empty', () => {
  const data = { text: 'a', empty: '', number: 1 };
  assert.deepEqual(
    ['text', 'empty', 'number', 'missing'].map((name) => textField(data, name)),
    ['a', undefined, undefined, undefined],
  );
});

test('a number field is a finite number', () => {
  const data = { zero: 0, infinite: Number.POSITIVE_INFINITY, text: '1' };
  assert.deepEqual(
    ['zero', 'infinite', 'text', 'missing'].map((name) => numberField(data, name)),
    [0, undefined, undefined, undefined],
  );
});

test('a field of a prototype, and of a value without fields, does not exist', () => {
  const inherited: unknown = Object.create({ text: 'a' });
  for (const data of [inherited, null, undefined, 'text', 7]) assert.equal(textField(data, 'text'), undefined);
  assert.equal(numberField('text', 'length'), undefined);
});

test('a field has any value, and own JSON is parsed as it was written', () => {
  const data: unknown = { list: [1], nothing: null, no: false };
  assert.deepEqual(
    ['list', 'nothing', 'no', 'other'].map((name) => fieldOf(data, name)),
    [[1], null, false, undefined],
  );
  assert.equal(fieldOf(['a'], 'length'), 1);
  assert.deepEqual(parseOwnJson('{"a":[1,null]}'), { a: [1, null] });
  assert.throws(() => parseOwnJson('{'), SyntaxError);
});

test('untrusted JSON that is nested so deep that it could not be written again is refused', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  assert.equal(Array.isArray(parseJson(nested(1_000))), true);
  for (const depth of [1_001, 200_000]) {
    assert.throws(() => parseJson(nested(depth)), { name: 'SyntaxError', message: /nested deeper than 1,000 levels/ });
    assert.equal(tryParseJson(nested(depth)), undefined);
  }
  assert.throws(() => parseJson('[1'), SyntaxError);
});
