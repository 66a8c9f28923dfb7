import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { findMutants } from '../../../scripts/mutations/mutants.ts';
import { NearestTests } from '../../../scripts/mutations/nearestTests.ts';

const mutate = (source: string): string[] =>
  findMutants('a.ts', source).map(
    ({ start, end, replacement }) => source.slice(0, start) + replacement + source.slice(end),
  );

test('operators, conditions, numbers, flags and statements change one at a time', () => {
  assert.deepEqual(mutate('let a = b < c;'), ['let a = (b <= c);']);
  assert.deepEqual(mutate('let a = b ?? c;'), ['let a = (b && c);']);
  assert.deepEqual(mutate('let a = b ? c : d;'), ['let a = true ? c : d;', 'let a = false ? c : d;']);
  assert.deepEqual(mutate('const a = 60;'), ['const a = (60 + 1);']);
  assert.deepEqual(mutate('const a = !b;'), ['const a = b;']);
  assert.deepEqual(mutate('a(true);'), [';', 'a(false);']);
  assert.deepEqual(mutate('a += b;'), [';', 'a -= b;']);
});

test('texts, types and imports stay as they are', () => {
  assert.deepEqual(mutate("import a from 'a';\nlet b: 1 | 2 = c as 1;\nlet d = 'x' + e;"), []);
});

test('the tests in the folder of a source come first', () => {
  const nearest = new NearestTests(join(import.meta.dirname, '../../..'));
  const tests = nearest.of('src/core/files/pathInside.ts', 3);
  assert.equal(tests[0], 'test/unit/core/files/pathInside.test.ts');
  assert.equal(tests.length, 3);
});
