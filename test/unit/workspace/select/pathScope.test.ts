import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PathScope } from '../../../../src/workspace/select/pathScope.ts';

test('a scope holds its paths and what is below them, and touches what is above', () => {
  const scope = new PathScope(['a/b/c', 'd']);
  const cases: readonly (readonly [path: string, holds: boolean, touches: boolean])[] = [
    ['a', false, true],
    ['a/b', false, true],
    ['a/b/c', true, true],
    ['a/b/c/e/f', true, true],
    ['a/b/cc', false, false],
    ['a/bb', false, false],
    ['b/c', false, false],
    ['d', true, true],
    ['d/x', true, true],
    ['dx', false, false],
    ['', false, false],
    ['e', false, false],
  ];
  for (const [path, holds, touches] of cases) {
    assert.deepEqual([scope.holds(path), scope.touches(path)], [holds, touches], path);
  }
  assert.equal(scope.isEmpty, false);
});

test('an empty scope holds nothing', () => {
  const scope = new PathScope([]);
  assert.deepEqual([scope.isEmpty, scope.holds('a'), scope.touches('a'), scope.holds('')], [true, false, false, false]);
});
