import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SweepStore } from '../../../../src/jobs/sweeps/sweepStore.ts';
import type { Sweep } from '../../../../src/jobs/sweeps/sweep.ts';
import { makeRecord, tempHome } from '../fixtures.ts';

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

test('a sweep is stored whole, found by the start of its ID, and removed', async (t) => {
  const home = tempHome(t);
  const store = new SweepStore(home);
  const sweepOf = (id: string): Sweep => ({
    id,
    name: 'train',
    host: 'local',
    folder: '/w',
    createdAt: '2026-01-01T00:00:00.000Z',
    concurrency: null,
    maxCost: 5,
    usesContents: true,
    isCancelled: false,
    drafts: [makeRecord({ id: randomUUID() })],
  });
  const ids = ['aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaab-0000-4000-8000-000000000001'] as const;
  for (const id of ids) await store.write(sweepOf(id));
  const stored = await store.read(ids[0]);
  assert.deepEqual([stored?.id, stored?.maxCost, stored?.usesContents, stored?.drafts.length], [ids[0], 5, true, 1]);
  assert.equal((await store.find('aaaaaaab')).id, ids[1]);
  await assert.rejects(store.find('aaaaaaa'), {
    code: 'bad-input',
    message: '2 sweeps start with "aaaaaaa". Enter more characters of the ID.',
  });
  for (const start of ['', 'b', 'b\u001b[2J']) {
    await assert.rejects(store.find(start), {
      code: 'missing',
      message: `Sweep ${start.slice(0, 1)} does not exist on this machine. List them:  farwharf sweep list`,
    });
  }
  await assert.rejects(store.write({ ...sweepOf(ids[0]), name: 'x'.repeat(30_000_000) }), {
    code: 'limit',
    message: 'The jobs of this sweep have too many variables together, so nothing was sent.',
  });
  assert.equal((await store.read(ids[0]))?.name, 'train');
  await store.remove(ids[0]);
  await store.remove(ids[0]);
  assert.deepEqual(await store.ids(), [ids[1]]);
  assert.equal(await store.read(ids[0]), undefined);
});
