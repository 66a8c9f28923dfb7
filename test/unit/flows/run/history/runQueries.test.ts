import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { RunEvent } from '../../../../../src/flows/run/protocol/runEvent.ts';
import { RunHistory } from '../../../../../src/flows/run/history/runHistory.ts';
import { RunQueries } from '../../../../../src/flows/run/history/runQueries.ts';

const run = 1;
const place = (node: string, visit: number, at: number) => ({ run, path: `F/${node}`, node, visit, at });
const took = { prepMicros: 0, execMicros: 0, postMicros: 0, isReplayed: false };

/** A run of A and then B, where A sets `n`. */
function eventsOf(n: number): RunEvent[] {
  return [
    { type: 'run-start', run, name: 'F', startedAt: 0, state: { n: 0 } },
    { type: 'flow-start', run, path: 'F', node: 'F', visit: 1, at: 0 },
    { type: 'node-start', ...place('A', 1, 0) },
    { type: 'node-end', ...place('A', 1, 10), ...took },
    { type: 'state', run, path: 'F/A', visit: 1, at: 10, changes: [{ op: 'set', path: ['n'], value: n }] },
    { type: 'edge', ...place('A', 1, 10), action: 'default', to: 'B' },
    { type: 'node-start', ...place('B', 1, 10) },
    { type: 'node-end', ...place('B', 1, 20), ...took },
  ];
}

const END: RunEvent = { type: 'run-end', run, at: 30 };

async function kept(t: TestContext) {
  const home = await mkdtemp(join(tmpdir(), 'farwharf-queries-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const file = join(home, 'flow.mts');
  const history = new RunHistory(home);
  const keep = async (events: readonly RunEvent[]) => {
    const { record, folder } = await history.begin({ file });
    const write = (all: readonly RunEvent[]) =>
      writeFile(folder.trace, all.map((event) => `${JSON.stringify(event)}\n`).join(''));
    await write(events);
    return { id: record.id, write };
  };
  return { file, keep, queries: new RunQueries(home) };
}

test('a step shows what it changed and all of the state after it', async (t) => {
  const { file, keep, queries } = await kept(t);
  const { id } = await keep([...eventsOf(7), END]);
  assert.deepEqual(await queries.step(file, id, 0), {
    changes: [{ path: ['n'], before: '0', after: '7' }],
    state: '{\n  "n": 7\n}',
  });
  assert.deepEqual((await queries.step(file, id, 1))?.changes, []);
  assert.equal(await queries.step(file, id, 2), undefined);
});

test('an active run is read again each time, one that has ended only once', async (t) => {
  const { file, keep, queries } = await kept(t);
  const { id, write } = await keep(eventsOf(7).slice(0, 3));
  assert.equal(await queries.step(file, id, 0), undefined);
  await write([...eventsOf(7), END]);
  assert.match((await queries.step(file, id, 0))?.state ?? '', /7/);
  await write([]);
  assert.match((await queries.step(file, id, 0))?.state ?? '', /7/);
});

test('the events of a run are those of a trace, of the first flow that the file ran', async (t) => {
  const { file, keep, queries } = await kept(t);
  const { id } = await keep([...eventsOf(7), END, { type: 'node-start', ...place('C', 1, 0), run: 2 }]);
  const events = await queries.events(file, id);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['flow-start', 'node-start', 'node-end', 'edge', 'node-start', 'node-end'],
  );
});

test('two runs are compared by their steps', async (t) => {
  const { file, keep, queries } = await kept(t);
  const [a, same, other] = [
    await keep([...eventsOf(7), END]),
    await keep([...eventsOf(7), END]),
    await keep([...eventsOf(8), END]),
  ];
  assert.deepEqual(await queries.compare(file, a.id, same.id), {
    divergence: undefined,
    changes: [],
    isPartial: false,
  });
  const { divergence } = await queries.compare(file, a.id, other.id);
  assert.deepEqual(divergence, { step: 0, reason: 'F/A left a different shared state.' });
});

test('a run of which nothing was kept is not said to have done the same', async (t) => {
  const { file, keep, queries } = await kept(t);
  const { id } = await keep([...eventsOf(7), END]);
  await assert.rejects(queries.compare(file, id, 'gone'), { code: 'missing' });
});
