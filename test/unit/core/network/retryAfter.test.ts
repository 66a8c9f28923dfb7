import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRetryAfter } from '../../../../src/core/network/retryAfter.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

test('a wait is in seconds or until a date, and never negative', () => {
  assert.equal(parseRetryAfter('2', NOW), 2_000);
  assert.equal(parseRetryAfter('0', NOW), 0);
  assert.equal(parseRetryAfter('-5', NOW), 0);
  assert.equal(parseRetryAfter('Fri, 20 Nov 2026 12:00:10 GMT', NOW), 10_000);
  assert.equal(parseRetryAfter('Fri, 20 Nov 2026 11:59:00 GMT', NOW), 0);
});

test('what is neither seconds nor a date is no wait', () => {
  for (const value of [null, undefined, '', '  ', 'soon', 'Infinity']) {
    assert.equal(parseRetryAfter(value, NOW), undefined, String(value));
  }
});

test('seconds may be a fraction', () => {
  assert.equal(parseRetryAfter(' 1.5 ', NOW), 1_500);
});
