import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeat } from '../../../../src/core/processes/repeat.ts';

test('work is repeated until the signal aborts', async (t) => {
  // The waits between the runs keep no process running.
  const running = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(running));
  const stop = new AbortController();
  let runs = 0;
  const work = (): void => {
    runs += 1;
    if (runs === 3) stop.abort();
  };
  await repeat(work, 1, stop.signal);
  assert.equal(runs, 3);
  await repeat(work, 1, stop.signal);
  assert.equal(runs, 3, 'an aborted signal starts nothing');
});

test('a failure ends the repetition, and an abort is none', async () => {
  const fail = (error: Error) => (): never => {
    throw error;
  };
  await assert.rejects(repeat(fail(new Error('broken')), 1, AbortSignal.timeout(10_000)), /broken/);
  await repeat(fail(new DOMException('Stopped.', 'AbortError')), 1, AbortSignal.timeout(10_000));
});
