import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits, type RequestOptions } from '../../../../src/remote/http/requestLimits.ts';

const limitsOf = (timeout: RequestOptions['timeout'], defaultRead = 60): number[] => {
  const { connectMs, readMs, totalMs } = limits(timeout === undefined ? undefined : { timeout }, defaultRead);
  return [connectMs, readMs, totalMs];
};

test('without a timeout, a call has the time of its kind, and a response twice that or two minutes', () => {
  assert.deepEqual(limitsOf(undefined), [10_000, 60_000, 120_000]);
  assert.deepEqual(limitsOf(undefined, 180), [10_000, 180_000, 360_000]);
});

test('a number is the time to connect and without a byte; each can be set alone', () => {
  assert.deepEqual(limitsOf(5), [5_000, 5_000, 120_000]);
  assert.deepEqual(limitsOf(90), [90_000, 90_000, 180_000]);
  assert.deepEqual(limitsOf({ connect: 3 }), [3_000, 60_000, 120_000]);
  assert.deepEqual(limitsOf({ read: 0.5, total: 1 }), [10_000, 500, 1_000]);
});

test('the signal of a call is passed on', () => {
  const { signal } = new AbortController();
  assert.equal(limits({ signal }, 60).signal, signal);
});

test('each limit must be above zero', () => {
  for (const limit of ['connect', 'read', 'total']) {
    for (const seconds of [0, -1, Number.NaN]) {
      assert.throws(() => limitsOf({ [limit]: seconds }), {
        code: 'bad-input',
        message: 'A timeout must be a number of seconds above zero.',
      });
    }
    limitsOf({ [limit]: Number.POSITIVE_INFINITY });
  }
});
