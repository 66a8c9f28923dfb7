import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inSlices } from '../../../../src/service/streams/eventStreams.ts';

/** Keeps the processor busy. */
function spin(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('work for many items lets other tasks run in between, and handles each item once, in order', async () => {
  const order: string[] = [];
  let isDone = false;
  const tick = (): void => {
    order.push('other');
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  const workedMs = await inSlices(['a', 'b', 'c'], (item) => {
    spin(25);
    order.push(item);
  });
  assert.ok(workedMs >= 75, String(workedMs));
  isDone = true;
  assert.deepEqual(
    order.filter((item) => item !== 'other'),
    ['a', 'b', 'c'],
  );
  assert.ok(order.indexOf('other') < order.indexOf('b'), order.join(' '));
});

test('items that are added meanwhile are handled, and removed ones are not', async () => {
  const items = new Set([1, 2, 3]);
  const seen: number[] = [];
  await inSlices(items, (item) => {
    spin(25);
    seen.push(item);
    if (item === 1) items.delete(2);
    if (item === 3) items.add(4);
  });
  assert.deepEqual(seen, [1, 3, 4]);
});
