import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Latest } from '../../../../src/extension/search/latest.ts';

test('of what is asked for meanwhile only the last is done, and the one under way knows that it is stale', async () => {
  const done: string[] = [];
  const gates = new Map<string, () => void>();
  const latest = new Latest<string>(async (wish) => {
    await new Promise<void>((resolve) => gates.set(wish, resolve));
    done.push(latest.isStale ? `${wish} stale` : wish);
  });
  for (const wish of ['a', 'b', 'c']) latest.ask(wish);
  gates.get('a')?.();
  await sleep(0);
  gates.get('c')?.();
  await sleep(0);
  assert.deepEqual(done, ['a stale', 'c']);
  assert.equal(gates.has('b'), false);
});
