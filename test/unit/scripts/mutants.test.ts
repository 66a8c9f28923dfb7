import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { findMutants } from '../../../scripts/mutations/mutants.ts';
import { NearestTests } from '../../../scripts/testing/nearestTests.ts';

const mutate = (source: string): string[] =>
  findMutants('a.ts', source).map(
    ({ start, end, replacement }) => source.slice(0, start) + replacement + source.slice(end),
  );

test('operators, conditions, flags and calls change one at a time', () => {
  assert.deepEqual(mutate('let a = b < c;'), [
    'let a = true;',
    'let a = false;',
    'let a = ((b) <= (c));',
    'let a = ((b) >= (c));',
  ]);
  assert.deepEqual(mutate('let a = (b ?? c) ?? d;'), ['let a = (((b ?? c)) && (d));', 'let a = (((b) && (c))) ?? d;']);
  assert.deepEqual(mutate('if (a) b();'), ['if (true) b();', 'if (false) b();', 'if (a) ;']);
  assert.deepEqual(mutate('const a = !(b);'), ['const a = (b);']);
  assert.deepEqual(mutate('a += b;'), ['a -= b;']);
  assert.deepEqual(mutate('a(true);'), ['a(false);']);
  assert.deepEqual(mutate('let a = (await b)?.c;'), ['let a = (await b).c;']);
  assert.deepEqual(mutate('let a = b?.[c];'), ['let a = b[c];']);
  assert.deepEqual(mutate('let a = b.trim();'), ['let a = (b);']);
  assert.deepEqual(mutate('let a = b.some(c);'), ['let a = b.every(c);']);
});

test('texts, lists, objects and bodies become empty', () => {
  assert.deepEqual(mutate("let a = 'x';"), ["let a = '';"]);
  assert.deepEqual(mutate('let a = [b];'), ['let a = [];']);
  assert.deepEqual(mutate('let a = { b };'), ['let a = {};']);
  assert.deepEqual(mutate('let a = () => b;'), ['let a = (() => undefined);']);
  assert.deepEqual(mutate('function a() { b; }'), ['function a() {}']);
});

test('numbers, types, imports and joined texts stay as they are', () => {
  assert.deepEqual(mutate("import a from 'a';\nlet b: 1 | 2 = c as 1;\nlet d = 60;"), []);
  assert.deepEqual(mutate("let a = b + 'x';"), ["let a = b + '';"]);
});

test('a test counts for a source that it imports, that a script imports, or that a program of its own does', () => {
  const nearest = new NearestTests(join(import.meta.dirname, '../../..'));
  const isNear = (test: string, source: string): boolean => nearest.of(source).includes(`test/unit/${test}.test.ts`);
  assert.equal(isNear('core/files/pathInside', 'src/core/files/pathInside.ts'), true);
  assert.equal(isNear('scripts/testing/knownFailures', 'scripts/testing/knownFailures.ts'), true);
  assert.equal(isNear('jobs/log/takeover', 'test/unit/jobs/log/followProcess.ts'), true, 'a process');
  assert.equal(isNear('retrieval/index/buildThread', 'src/retrieval/index/indexWorker.ts'), true, 'a thread');
  assert.equal(isNear('core/files/pathInside', 'src/core/text/format.ts'), false);
});

test('the tests in the folder of a source come first', () => {
  const nearest = new NearestTests(join(import.meta.dirname, '../../..'));
  const tests = nearest.of('src/core/files/pathInside.ts');
  assert.equal(tests[0], 'test/unit/core/files/pathInside.test.ts');
  assert.ok(tests.every((test) => test.endsWith('.test.ts')));
  const elsewhere = tests.findIndex((test) => !test.startsWith('test/unit/core/'));
  assert.ok(tests.slice(elsewhere).every((test) => !test.startsWith('test/unit/core/files/')));
});
