import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventPages } from '../../../../src/service/streams/eventPages.ts';
import { heldMegabytes } from '../../heldMemory.ts';
import { GUARD_MS } from '../../timeLimits.ts';

/** Waits until so few megabytes more are held: what compressors held is given back a while after they were collected. */
async function untilHeld(before: number, more: number): Promise<void> {
  for (const deadline = performance.now() + GUARD_MS; heldMegabytes() - before >= more; await sleep(20)) {
    assert.ok(performance.now() < deadline, `${(heldMegabytes() - before).toFixed(0)} MB`);
  }
}

test('50,000 small pages, plain and compressed, leave no more than some megabytes behind', async () => {
  const pages = new EventPages({ page: (_job, after) => [{ id: after + 1, type: 'log', data: `"line ${after}"` }] });
  const before = heldMegabytes();
  for (let after = 0; after < 50_000; after += 1) {
    const page = pages.get({ number: after % 500 }, after);
    // Compressing all of them takes long.
    if (after >= 45_000) assert.ok(page?.deflated);
  }
  await untilHeld(before, 20);
  assert.equal(pages.get({ number: 0 }, 0)?.last, 1);
});

test('small pages hold no more than themselves, whatever other bytes come and go between them', async () => {
  const pages = new EventPages({ page: (_job, after) => [{ id: after + 1, type: 'log', data: `"line ${after}"` }] });
  const before = heldMegabytes();
  let passing = '';
  for (let after = 0; after < 4000; after += 1) {
    pages.get({ number: 1 }, after);
    // Node takes the room of short texts from blocks that they share.
    for (let other = 0; other < 40; other += 1) passing = Buffer.from('x'.repeat(1000)).toString('latin1', 0, 1);
  }
  await untilHeld(before, 10);
  assert.equal(pages.get({ number: 1 }, 0)?.last, 1);
  assert.equal(passing, 'x');
});
