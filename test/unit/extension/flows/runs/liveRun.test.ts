import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TraceEvent } from '../../../../../src/agents/records/trace.ts';
import { LiveRun } from '../../../../../src/extension/flows/runs/liveRun.ts';
import type { RunEvent } from '../../../../../src/flows/run/protocol/runEvent.ts';
import type { RunInfo } from '../../../../../src/webview/canvas/state/canvasMessages.ts';

const INFO: RunInfo = {
  id: 'r1',
  flow: 'research',
  state: 'running',
  startedAt: 0,
  durationMs: undefined,
  remote: undefined,
  message: undefined,
  isRecorded: true,
};

const start = (run: number): RunEvent => ({ type: 'run-start', run, name: 'F', startedAt: 0, state: {} });
const begin = (node: string, run = 1): RunEvent & TraceEvent => ({
  type: 'node-start',
  run,
  path: `F/${node}`,
  node,
  visit: 1,
  at: 0,
});

function liveRun() {
  const received: TraceEvent[] = [];
  const stop = new AbortController();
  return { live: new LiveRun(INFO, stop, (events) => received.push(...events)), received, stop };
}

test('a view that opens during a run gets each of its events once', () => {
  const { live, received } = liveRun();
  live.take(start(1));
  live.take(begin('A'));
  live.flush();
  live.take(begin('B'));
  const before = live.reported;
  const known = received.length;
  live.flush();
  assert.deepEqual([...before, ...received.slice(known)], [begin('A'), begin('B')]);
});

test('of a file that runs two flows at once, only the first is reported', () => {
  const { live, received } = liveRun();
  for (const event of [start(1), start(2), begin('X', 2), begin('A')]) live.take(event);
  live.flush();
  assert.deepEqual(received, [begin('A')]);
  assert.deepEqual([...live.nodes.keys()], ['F/A']);
});

test('a run that has reported nothing yet has visited no node', () => {
  const { live, received } = liveRun();
  live.take(begin('A')); // its beginning was lost
  live.flush();
  assert.equal(live.timeline, undefined);
  assert.equal(live.nodes.size, 0);
  assert.deepEqual(received, []);
});

test('nothing is reported after its window is closed', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { live, received, stop } = liveRun();
  live.take(start(1));
  live.take(begin('A'));
  live.dispose();
  t.mock.timers.tick(60_000);
  assert.ok(stop.signal.aborted);
  assert.deepEqual(received, []);
});

test('of a file that runs two flows, the one that was asked for is reported', () => {
  const received: TraceEvent[] = [];
  const live = new LiveRun(INFO, new AbortController(), (events) => received.push(...events), 'Second');
  const second: RunEvent = { type: 'run-start', run: 2, name: 'Second', startedAt: 0, state: {} };
  for (const event of [start(1), begin('A'), second, begin('X', 2)]) live.take(event);
  live.flush();
  assert.deepEqual(received, [begin('X', 2)]);
});
