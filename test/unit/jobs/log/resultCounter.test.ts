import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { ArchiveStore } from '../../../../src/jobs/archives/archives.ts';
import { EventSpool, type NewEvent } from '../../../../src/jobs/log/spool.ts';
import { ResultCounter } from '../../../../src/jobs/log/resultCounter.ts';
import { tempHome } from '../fixtures.ts';

const ID = 'a-job';
const artifact = (path: unknown): NewEvent => ({ event: 'artifact', data: { path, size: 1 } });
const end: NewEvent = { event: 'end', data: { state: 'succeeded', exit_code: 0, credits_charged: 0.5 } };
const endOfOthers: NewEvent = { event: 'end', data: { state: 'succeeded' } };

async function count(t: TestContext, events: readonly NewEvent[], sent?: string): Promise<unknown> {
  const home = tempHome(t);
  await new EventSpool(home, ID).append(events);
  const store = new ArchiveStore(home);
  await store.prepare();
  if (sent !== undefined) writeFileSync(store.manifestPath(ID), sent);
  return new ResultCounter(home).count(ID);
}

test('results that were sent with the job are changed, the others are new', async (t) => {
  const events = [artifact('out/model.bin'), artifact('train.py'), artifact('made.txt'), end];
  const sent = JSON.stringify(['train.py', 'same.txt'].map((path) => ({ path, size: 1, mode: 0o644, sha256: '0' })));
  assert.deepEqual(await count(t, events, sent), { files: 3, added: 2 });
});

test('without the list of sent files, or with a damaged one, only their number is known', async (t) => {
  assert.deepEqual(await count(t, [artifact('a'), end]), { files: 1, added: null });
  for (const damaged of ['[{"path": "a"', '[null]', '[{"path": 1}]']) {
    assert.deepEqual(await count(t, [artifact('a'), end], damaged), { files: 1, added: null });
  }
});

test('a complete end without results means that there are none; the end of another service means nothing', async (t) => {
  assert.deepEqual(await count(t, [end], '[]'), { files: 0, added: 0 });
  assert.equal(await count(t, [endOfOthers], '[]'), null);
  assert.equal(await count(t, [{ ...end, own: true }], '[]'), null);
  assert.deepEqual(await count(t, [artifact('a'), endOfOthers], '[]'), { files: 1, added: 1 });
});

test('a result whose path is no text counts as new', async (t) => {
  assert.deepEqual(await count(t, [artifact(7), artifact({ toString: 'a' }), end], '[]'), { files: 2, added: 2 });
});
