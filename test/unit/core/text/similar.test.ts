import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closest, editDistance, nearest } from '../../../../src/core/text/similar.ts';

test('the distance counts letters that are changed, added, removed or swapped', () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ['', '', 0],
    ['', 'abc', 3],
    ['train', 'train', 0],
    ['trian', 'train', 1],
    ['kitten', 'sitting', 3],
    ['a10', 'a10g', 1],
    ['submit', 'sumbit', 1],
    ['ab', 'ba', 1],
  ];
  for (const [a, b, distance] of cases) {
    assert.equal(editDistance(a, b), distance, `${a} ${b}`);
    assert.equal(editDistance(b, a), distance, `${b} ${a}`);
  }
});

test('with a limit, every distance up to it is exact, and all above read alike', () => {
  const words = ['', 'a', 'ab', 'ba', 'abc', 'acb', 'train', 'trian', 'tarin', 'brain', 'strain', 'rain', 'xyz'];
  for (const a of words) {
    for (const b of words) {
      const exact = editDistance(a, b);
      for (const limit of [0, 1, 2, 3])
        assert.equal(editDistance(a, b, limit), Math.min(exact, limit + 1), `${a} ${b}`);
    }
  }
});

test('the nearest name is suggested where it is near, whatever its case', () => {
  const names = ['account', 'key', 'credits', 'usage'];
  assert.equal(nearest('kye', names), 'key');
  assert.equal(nearest('KEY', names), 'key');
  assert.equal(nearest('acount', names), 'account');
  assert.equal(nearest('disk', names), undefined);
  assert.equal(nearest('key', []), undefined);
  assert.deepEqual(closest('usages', names)[0], 'usage');
});

test('a suggestion may differ in a third of the word, and in three letters at most', () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['abc', 'abd', true],
    ['abc', 'add', false],
    ['abcd', 'abxx', true],
    ['abcd', 'axxx', false],
    ['abcdefghijkl', 'abcdefghixxx', true],
    ['abcdefghijkl', 'abcdefghxxxx', false],
    ['ab', 'xb', true],
    ['ab', 'xy', false],
  ];
  for (const [name, other, isNear] of cases) {
    assert.equal(nearest(name, [other]), isNear ? other : undefined, `${name} ${other}`);
  }
});

test('names are ordered by their distance, and equally near ones as they were', () => {
  assert.deepEqual(closest('cat', ['dog', 'bat', 'CAT', 'rat', 'cart']), ['CAT', 'bat', 'rat', 'cart', 'dog']);
});
