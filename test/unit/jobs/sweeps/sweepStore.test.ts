import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SweepStore } from '../../../../src/jobs/sweeps/sweepStore.ts';
import { tempHome } from '../fixtures.ts';

test('a sweep that is not stored is missing, and a damaged one is not taken for a missing one', async (t) => {
  const home = tempHome(t);
  const store = new SweepStore(home);
  const id = randomUUID();
  assert.deepEqual([await store.read(id), await store.ids()], [undefined, []]);
  await assert.rejects(store.find(id.slice(0, 8)), { code: 'missing' });
  mkdirSync(join(home, 'sweeps'));
  writeFileSync(join(home, 'sweeps', `${id}.json`), '{"id":');
  writeFileSync(join(home, 'sweeps', 'notes.json'), '{}');
  await assert.rejects(store.read(id), { code: 'corrupt', message: /The file of this sweep is damaged/ });
  assert.deepEqual(await store.ids(), [id]);
  await store.remove(id);
  assert.deepEqual(await store.ids(), []);
});
