import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs, delay, parseRetryAfter, Retries, retry, type RetryOptions } from '../../../src/core/retry.ts';
import { rejection } from '../rejection.ts';

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

/** Options whose waits take no time and are listed. */
function listed(delayMs: RetryOptions['delayMs'], signal?: AbortSignal) {
  const waits: number[] = [];
  return { waits, options: { delayMs, signal, sleep: async (ms: number) => void waits.push(ms) } };
}

test('delays double, or grow by another factor, up to the longest one, until the retries are used', () => {
  const delays = (...[backoff]: [Parameters<typeof backoffMs>[1]]) =>
    Array.from({ length: 6 }, (_, index) => backoffMs(index + 1, backoff));
  assert.deepEqual(delays({ firstMs: 1_000 }), [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
  assert.deepEqual(delays({ firstMs: 250, factor: 4 }), [250, 1_000, 4_000, 16_000, 30_000, 30_000]);
  assert.deepEqual(delays({ firstMs: 5, factor: 1, retries: 2 }), [
    5,
    5,
    ...Array.from({ length: 4 }, () => undefined),
  ]);
  assert.deepEqual(delays({ firstMs: 40, longestMs: 60 }), [40, 60, 60, 60, 60, 60]);
  assert.equal(backoffMs(10_000, { firstMs: 1_000 }), 30_000);
});

test('a part of a delay is random', () => {
  const delays = Array.from({ length: 200 }, () => backoffMs(1, { firstMs: 1_000, spread: 0.25 }) ?? 0);
  assert.ok(delays.every((ms) => ms > 750 && ms <= 1_000));
  assert.ok(new Set(delays).size > 100);
});

test('attempts are made until one succeeds, with the delay for each failure before the next', async () => {
  const retried: unknown[] = [];
  const { waits, options } = listed((failures) => 10 * failures);
  let attempts = 0;
  const attempt = async (): Promise<string> => {
    attempts += 1;
    if (attempts < 4) throw new Error(`attempt ${attempts}`);
    return 'done';
  };
  const onRetry = (ms: number, failure: unknown): void => void retried.push(ms, String(failure));
  assert.equal(await retry(attempt, { ...options, onRetry }), 'done');
  assert.deepEqual(waits, [10, 20, 30]);
  assert.deepEqual(retried, [10, 'Error: attempt 1', 20, 'Error: attempt 2', 30, 'Error: attempt 3']);
});

test('a failure that is not to be retried is thrown as it is', async () => {
  const [passes, stays] = [new Error('passes'), new Error('stays')];
  const { waits, options } = listed((failures, failure) => (failure === passes ? failures : undefined));
  const failures = [passes, passes, stays, passes];
  const attempt = async (): Promise<never> => {
    throw failures.shift() ?? new Error('one attempt too many');
  };
  assert.equal(await rejection(retry(attempt, options)), stays);
  assert.deepEqual(waits, [1, 2]);
});

test('after progress a failure counts as the first', async () => {
  const { waits, options } = listed((failures) => (failures > 2 ? undefined : failures));
  let attempts = 0;
  const attempt = async (retries: Retries): Promise<never> => {
    attempts += 1;
    if (attempts === 3) retries.reset();
    throw new Error(`attempt ${attempts}`);
  };
  await assert.rejects(retry(attempt, options), { message: 'attempt 5' });
  assert.deepEqual(waits, [1, 2, 1, 2]);
});

test('an abort ends a wait with its reason, and is not taken for a failure', async () => {
  const stop = new AbortController();
  const reason = new Error('enough');
  const waiting = rejection(delay(3_600_000, stop.signal));
  const retrying = rejection(
    retry(() => Promise.reject(new Error('lost')), { delayMs: () => 3_600_000, signal: stop.signal }),
  );
  stop.abort(reason);
  assert.equal(await waiting, reason);
  assert.equal(await retrying, reason);
  const { waits, options } = listed(() => 1, stop.signal);
  assert.equal(await rejection(new Retries(options).wait(new Error('lost'))), reason);
  assert.deepEqual(waits, []);
});

test('no timer is started for no delay', async () => {
  const { waits, options } = listed(() => 0);
  await new Retries(options).wait();
  assert.deepEqual(waits, []);
});
