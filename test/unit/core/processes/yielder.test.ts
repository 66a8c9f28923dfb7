import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Yielder } from '../../../../src/core/processes/yielder.ts';

/** Works without a pause for so many milliseconds. */
function work(milliseconds: number): void {
  const started = performance.now();
  while (performance.now() - started < milliseconds);
}

test('a pause is due after ten milliseconds of work, and lets other tasks run', async () => {
  const yielder = new Yielder();
  work(11);
  assert.equal(yielder.isDue, true);
  let hasRun = false;
  setImmediate(() => (hasRun = true));
  await yielder.pause();
  assert.equal(hasRun, true);
});

test('a pause is not due again at once', async (t) => {
  let now = 1_000;
  t.mock.method(performance, 'now', () => now);
  const yielder = new Yielder();
  const dueAt = (milliseconds: number): boolean => {
    now = milliseconds;
    return yielder.isDue;
  };
  assert.deepEqual([1_000, 1_010, 1_010.1].map(dueAt), [false, false, true]);
  await yielder.pause();
  assert.deepEqual([1_010.1, 1_020, 1_021].map(dueAt), [false, false, true]);
});

test('an abort is noticed before a pause and after it', async () => {
  const reason = new Error('enough');
  await assert.rejects(new Yielder(AbortSignal.abort(reason)).pause(), reason);
  const stop = new AbortController();
  const pausing = new Yielder(stop.signal).pause();
  stop.abort(reason);
  await assert.rejects(pausing, reason);
});
