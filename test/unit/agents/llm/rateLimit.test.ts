import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryDelayMs } from '../../../../src/agents/llm/rateLimit.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

test('Retry-After in seconds or as a date is honoured, up to a minute, and a longer one is not waited for', () => {
  assert.equal(retryDelayMs('2', 1, NOW), 2_000);
  assert.equal(retryDelayMs('0.5', 1, NOW), 500);
  assert.equal(retryDelayMs('Thu, 01 Jan 2026 00:00:07 GMT', 1, NOW), 7_000);
  assert.equal(retryDelayMs('60', 1, NOW), 60_000);
  assert.equal(retryDelayMs('3600', 1, NOW), undefined);
  assert.equal(retryDelayMs('Fri, 02 Jan 2026 00:00:00 GMT', 1, NOW), undefined);
  assert.equal(retryDelayMs('Wed, 31 Dec 2025 00:00:00 GMT', 1, NOW), 0);
  assert.equal(retryDelayMs('-5', 1, NOW), 0);
});

test('without a usable Retry-After the wait doubles from half a second, up to a minute', () => {
  for (const header of [undefined, null, '', 'soon']) {
    for (const [attempt, longest] of [
      [1, 500],
      [2, 1_000],
      [3, 2_000],
      [20, 60_000],
    ] as const) {
      const delay = retryDelayMs(header, attempt, NOW) ?? 0;
      assert.ok(delay > longest * 0.75 - 1 && delay <= longest, `${header} ${attempt}: ${delay}`);
    }
  }
});
