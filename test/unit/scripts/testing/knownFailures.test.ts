import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isKnownFailure, KNOWN_FAILURES, problemsOfKnownFailures } from '../../../../scripts/testing/knownFailures.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const failure = { file: 'test/service/jobs.test.ts', title: 'a > b', seen: 'a lost key', until: '2026-03-10' };
const today = new Date('2026-03-03T12:00:00Z');

test('the list of known failures is short, dated, and names tests that exist', () => {
  assert.deepEqual(problemsOfKnownFailures(KNOWN_FAILURES, new Date()), []);
  for (const { file, title } of KNOWN_FAILURES) {
    const source = readFileSync(join(ROOT, file), 'utf8');
    assert.ok(source.includes(title.split(' > ').at(-1) ?? ''), `${file} has no test "${title}"`);
  }
});

test('a known failure is accepted until the end of its day, for two weeks at most', () => {
  assert.deepEqual(problemsOfKnownFailures([failure], today), []);
  assert.deepEqual(problemsOfKnownFailures([failure], new Date('2026-03-10T23:59:00Z')), []);
  const late = problemsOfKnownFailures([failure], new Date('2026-03-11T00:00:00Z'));
  assert.deepEqual(late, ['test/service/jobs.test.ts: a > b had to be understood by 2026-03-10.']);
  const problemOf = (change: Partial<typeof failure>): string =>
    problemsOfKnownFailures([{ ...failure, ...change }], today).join(' ');
  assert.match(problemOf({ until: '2026-03-20' }), /more than 14 days/);
  assert.match(problemOf({ until: 'soon' }), /no valid date/);
  assert.match(problemOf({ seen: ' ' }), /does not say/);
  assert.match(problemOf({ file: 'test/unit/core/log.test.ts' }), /neither a service test nor a window test/);
  const many = Array.from({ length: 11 }, (_, index) => ({ ...failure, title: `test ${index}` }));
  assert.match(problemsOfKnownFailures(many, today).join(' '), /more than 10 known failures/);
});

test('only the listed test of the listed file is known to fail', () => {
  assert.equal(isKnownFailure(failure.file, failure.title, [failure]), true);
  assert.equal(isKnownFailure(failure.file, 'a > c', [failure]), false);
  assert.equal(isKnownFailure('test/service/other.test.ts', failure.title, [failure]), false);
});
