import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Recording } from '../../../../../src/agents/records/recording.ts';
import { RunWriter } from '../../../../../src/flows/run/child/runWriter.ts';
import { readEvents } from '../../../../../src/flows/run/history/runFiles.ts';
import { RunHistory } from '../../../../../src/flows/run/history/runHistory.ts';
import { RunQueries } from '../../../../../src/flows/run/history/runQueries.ts';
import { pinFlowTest } from '../../../../../src/flows/run/testing/flowTestPin.ts';

const run = 1;
const EVENTS = 40; // of a megabyte each, where a trace stores 32

/** A run whose trace was full before its end. */
async function fullRun(t: TestContext) {
  const home = await mkdtemp(join(tmpdir(), 'farwharf-full-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const file = join(home, 'flow.mts');
  const history = new RunHistory(home);
  const { record, folder } = await history.begin({ file });
  const notes: string[] = [];
  const writer = new RunWriter(folder.path, await Recording.open(join(home, 'hasher.jsonl')), (note) =>
    notes.push(note),
  );
  writer.event({ type: 'run-start', run, name: 'F', startedAt: 0, state: {} });
  for (let visit = 1; visit <= EVENTS; visit += 1) {
    writer.event({ type: 'emit', run, path: 'F/A', node: 'A', visit, at: visit, data: 'x'.repeat(1 << 20) });
  }
  writer.event({ type: 'run-end', run, at: EVENTS });
  writer.flush();
  return { home, file, history, id: record.id, folder, notes };
}

test('the end of a trace that was full says how many events it lacks', async (t) => {
  const { folder, notes } = await fullRun(t);
  const events = await readEvents(folder);
  const end = events.at(-1);
  assert.ok(end?.type === 'run-end');
  assert.equal(end.dropped, EVENTS - (events.length - 2));
  assert.equal(notes.length, 1);
});

test('a run whose trace was full is not pinned as a test', async (t) => {
  const { home, file, history, id } = await fullRun(t);
  const runtime = { runner: '', node: '' };
  const pinned = pinFlowTest(join(home, 'flow.x.flowtest.json'), { history, file, run: id }, runtime, {
    signal: AbortSignal.timeout(60_000),
    env: {},
    network: { type: 'none', why: 'The test starts no process.' },
    readReach: () => Promise.resolve({}),
  });
  await assert.rejects(pinned, { code: 'limit', message: /^This run has more steps than a trace can store/ });
});

test('a comparison with a run whose trace was full is partial', async (t) => {
  const { home, file, id } = await fullRun(t);
  const { divergence, isPartial } = await new RunQueries(home).compare(file, id, id);
  assert.deepEqual([divergence, isPartial], [undefined, true]);
});
