import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { ResponseTimeout } from '../../../../src/agents/llm/responseTimeout.ts';
import { heldMegabytes } from '../../heldMemory.ts';

const LONG_MS = 60_000;

/** A request that listens to its signal, as an HTTP client does. */
async function request(outer: AbortSignal): Promise<void> {
  const timeout = new ResponseTimeout(LONG_MS, outer);
  await timeout.limit(async () => timeout.signal.addEventListener('abort', () => {}, { once: true }));
}

test('a signal that outlives many requests remembers none of them', async () => {
  const { signal } = new AbortController();
  await request(signal);
  const before = heldMegabytes();
  for (let count = 0; count < 30_000; count += 1) await request(signal);
  const grown = heldMegabytes() - before;
  assert.ok(grown < 10, `${grown} MB`); // 50 MB if the signals are joined
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});

test('the signal of the caller ends the work with its reason, also if it was aborted before', async () => {
  const reason = new Error('stop');
  const controller = new AbortController();
  const reasonOf = (timeout: ResponseTimeout): Promise<unknown> =>
    timeout.limit(async () => {
      if (!timeout.signal.aborted) await new Promise((resolve) => timeout.signal.addEventListener('abort', resolve));
      const found: unknown = timeout.signal.reason;
      return found;
    });
  const waiting = reasonOf(new ResponseTimeout(LONG_MS, controller.signal));
  controller.abort(reason);
  assert.equal(await waiting, reason);
  assert.equal(await reasonOf(new ResponseTimeout(LONG_MS, controller.signal)), reason);
});
