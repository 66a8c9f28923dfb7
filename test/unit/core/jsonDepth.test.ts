import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTooDeep, MAX_JSON_DEPTH } from '../../../src/core/jsonFields.ts';

const nested = (depth: number, inside = ''): string => '['.repeat(depth) + inside + ']'.repeat(depth);

test('JSON is too deep from one level above the limit, in arrays and objects', () => {
  assert.equal(isTooDeep(nested(MAX_JSON_DEPTH)), false);
  assert.equal(isTooDeep(nested(MAX_JSON_DEPTH + 1)), true);
  const objects = '{"a":'.repeat(MAX_JSON_DEPTH + 1) + '1' + '}'.repeat(MAX_JSON_DEPTH + 1);
  assert.equal(isTooDeep(objects), true);
});

test('brackets inside text do not count, also behind an escaped quote', () => {
  const text = `["${'['.repeat(3 * MAX_JSON_DEPTH)}", "\\"${'{'.repeat(3 * MAX_JSON_DEPTH)}"]`;
  assert.equal(isTooDeep(text), false);
  assert.equal(isTooDeep(nested(MAX_JSON_DEPTH, '"\\\\"')), false);
  assert.equal(isTooDeep(`["\\\\", ${nested(MAX_JSON_DEPTH)}]`), true);
});

test('values beside each other are not deeper than one', () => {
  assert.equal(
    isTooDeep(
      `[${Array(3 * MAX_JSON_DEPTH)
        .fill('{}')
        .join(',')}]`,
    ),
    false,
  );
});
