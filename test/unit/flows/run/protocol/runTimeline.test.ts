import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareRuns } from '../../../../../src/flows/run/history/runQueries.ts';
import { describeRunEnd, describeStep } from '../../../../../src/flows/run/history/describeRun.ts';
import type { RunEvent } from '../../../../../src/flows/run/protocol/runEvent.ts';
import { differencesOf } from '../../../../../src/flows/run/testing/testDifference.ts';
import { type RunTimeline, timelinesOf } from '../../../../../src/flows/run/protocol/runTimeline.ts';

const run = 1;
const place = (node: string, visit: number, at: number) => ({ run, path: `F/${node}`, node, visit, at });
const took = { prepMicros: 0, execMicros: 0, postMicros: 0, isReplayed: false };
const model = { provider: 'p', model: 'm', durationMs: 5, retries: 0 };

/** Two visits of A and one of B, which fails where `error` is given. */
function events({ second = 'B says so', error }: { second?: string; error?: string } = {}): RunEvent[] {
  return [
    { type: 'run-start', run, name: 'F', startedAt: 0, state: { n: 0 } },
    { type: 'flow-start', run, path: 'F', node: 'F', visit: 1, at: 0 },
    { type: 'node-start', ...place('A', 1, 0) },
    { type: 'model', ...place('A', 1, 5), ...model, inputTokens: 10, outputTokens: 2, estimatedCost: 0.5 },
    { type: 'node-end', ...place('A', 1, 10), ...took, action: 'again' },
    { type: 'state', run, path: 'F/A', visit: 1, at: 10, changes: [{ op: 'set', path: ['n'], value: 1 }] },
    { type: 'edge', ...place('A', 1, 10), action: 'again', to: 'A' },
    { type: 'node-start', ...place('A', 2, 10) },
    { type: 'retry', ...place('A', 2, 12), attempt: 1, waitMs: 0, message: 'busy' },
    { type: 'node-end', ...place('A', 2, 30), ...took, action: 'on' },
    { type: 'node-start', ...place('B', 1, 30) },
    ...(error === undefined
      ? ([
          { type: 'node-end', ...place('B', 1, 40), ...took },
          {
            type: 'state',
            run,
            path: 'F/B',
            visit: 1,
            at: 40,
            changes: [{ op: 'set', path: ['text'], value: second }],
          },
        ] satisfies RunEvent[])
      : ([
          { type: 'error', ...place('B', 1, 40), message: error },
          { type: 'error', run, path: 'F', node: 'F', visit: 1, at: 40, message: error },
        ] satisfies RunEvent[])),
  ];
}

function timelineOf(list: readonly RunEvent[]): RunTimeline {
  const [timeline] = timelinesOf(list);
  assert.ok(timeline);
  return timeline;
}

test('a timeline gives the shared state and the nodes at each step', () => {
  const timeline = timelineOf(events());
  assert.deepEqual(
    timeline.steps.map(({ path, visit }) => `${path} ${visit}`),
    ['F/A 1', 'F/A 2', 'F/B 1'],
  );
  assert.deepEqual(
    [-1, 0, 1, 2].map((index) => timeline.stateAfter(index)),
    [{ n: 0 }, { n: 1 }, { n: 1 }, { n: 1, text: 'B says so' }],
  );
  const nodes = timeline.nodesAfter(1);
  assert.deepEqual([...nodes.keys()], ['F/A']);
  assert.deepEqual(nodes.get('F/A'), {
    status: 'done',
    visits: 2,
    micros: 30,
    lastAction: 'on',
    usage: { calls: 1, inputTokens: 10, outputTokens: 2, cost: 0.5 },
    retries: 1,
    error: undefined,
  });
  assert.equal(timeline.usage.cost, 0.5);
  assert.match(describeStep(timeline.steps[1] ?? assert.fail()), /^F\/A \(visit 2\) -> on, <1 ms, 1 retry$/);
  const stopped = timelineOf(events({ error: 'The run was stopped.' })).steps[2] ?? assert.fail();
  assert.match(describeStep(stopped), /failed: The run was stopped, <1 ms$/);
});

test('a timeline can be read during the run, and shows where it failed', () => {
  const list = events({ error: 'no harbour' });
  assert.equal(timelineOf(list.slice(0, 3)).steps[0]?.status, 'running');
  const timeline = timelineOf(list);
  assert.deepEqual(
    timeline.steps.map(({ type, status, error }) => [type, status, error]),
    [
      ['node', 'done', undefined],
      ['node', 'done', undefined],
      ['node', 'failed', 'no harbour'],
      ['flow', 'failed', 'no harbour'],
    ],
  );
});

test('two runs are compared up to their first difference', () => {
  const first = timelineOf(events());
  assert.equal(compareRuns(first, timelineOf(events())), undefined);
  const other = compareRuns(first, timelineOf(events({ second: 'else' })));
  assert.deepEqual(other, { index: 2, reason: 'F/B left a different shared state.' });
  const failed = compareRuns(first, timelineOf(events({ error: 'x' })));
  assert.match(failed?.reason ?? '', /^F\/\w ended differently: done and x\.$/);
  const [start, ...rest] = events();
  const changed = { ...start, state: { n: 7 } } as RunEvent;
  const input = compareRuns(first, timelineOf([changed, ...rest]));
  assert.deepEqual(input, { index: -1, reason: 'The runs started with different shared states.' });
  const action = rest.map((event) =>
    event.type === 'node-end' && event.visit === 2 ? { ...event, action: 'no' } : event,
  );
  const acted = compareRuns(first, timelineOf([start ?? assert.fail(), ...action]));
  assert.equal(acted?.reason, 'F/A returned "on" in one run and "no" in the other.');
});

test('a visit that an earlier run did not end is not called done', () => {
  const whole = events();
  const killed = timelineOf(whole.slice(0, 11));
  const found = compareRuns(killed, timelineOf(whole));
  assert.equal(found?.reason, 'F/B ended differently: not ended and done.');
});

test('steps that a full trace lacks are no difference', () => {
  const whole = events();
  const full: RunEvent[] = [...whole.slice(0, 7), { type: 'run-end', run, at: 40, dropped: 6 }];
  assert.equal(compareRuns(timelineOf(full), timelineOf(whole)), undefined);
  assert.equal(compareRuns(timelineOf(whole), timelineOf(full)), undefined);
  const complete: RunEvent[] = [...whole.slice(0, 7), { type: 'run-end', run, at: 40 }];
  assert.match(compareRuns(timelineOf(complete), timelineOf(whole))?.reason ?? '', /^One run ended/);
});

test('steps that were too fast to be watched are compared by the state at the end', () => {
  const state = (visit: number, changes: object[], skipped?: number): RunEvent =>
    ({ type: 'state', run, path: 'F/A', visit, at: 0, changes, ...(skipped !== undefined && { skipped }) }) as RunEvent;
  const visits = (...states: RunEvent[]): RunTimeline =>
    timelineOf([
      { type: 'run-start', run, name: 'F', startedAt: 0, state: {} },
      ...[1, 2, 3].flatMap((visit): RunEvent[] => [
        { type: 'node-start', ...place('A', visit, visit) },
        { type: 'node-end', ...place('A', visit, visit), ...took },
        ...states.filter((each) => 'visit' in each && each.visit === visit),
      ]),
    ]);
  const set = (value: number): object => ({ op: 'set', path: ['n'], value });
  const watched = visits(state(1, [set(1)]), state(2, [set(2)]), state(3, [set(3)]));
  const sampled = visits(state(1, [set(1)]), state(3, [set(3)], 1));
  assert.equal(compareRuns(watched, sampled), undefined);
  const other = visits(state(1, [set(1)]), state(3, [set(4)], 1));
  assert.deepEqual(compareRuns(watched, other), { index: 2, reason: 'The runs ended with different shared states.' });
});

test('each end of a run has a sentence', () => {
  const error = { name: 'Error', message: 'no harbour', place: { file: '/a.ts', line: 4, column: 11 }, path: 'F/B' };
  assert.equal(describeRunEnd({ type: 'failed', error }), 'failed at F/B: no harbour (/a.ts:4:11)');
  const refused = { name: 'AppError', message: 'x.py is not a flow file. Choose another.' };
  assert.equal(
    describeRunEnd({ type: 'refused', error: refused }),
    'could not run: x.py is not a flow file. Choose another',
  );
  assert.match(describeRunEnd({ type: 'exited', code: 13 }), /waits for something/);
  assert.match(describeRunEnd({ type: 'exited', code: 0 }), /process\.exit was called/);
  assert.match(describeRunEnd({ type: 'killed', signal: 'SIGKILL' }), /SIGKILL/);
  assert.match(describeRunEnd(undefined), /no recorded end/);
});

test('the differences of a test are lines, and ignored keys are none', () => {
  const expected = [{ flow: 'F', steps: ['A -> x', 'B -> y'], shared: { a: 1, at: { ms: 3 } } }];
  const actual = [{ flow: 'F', steps: ['A -> x', 'C -> z', 'B -> y'], shared: { a: 2, at: { ms: 4 } }, error: 'late' }];
  assert.deepEqual(differencesOf(expected, actual, ['at']), [
    { type: 'steps', lines: ['  A -> x', '+ C -> z', '  B -> y'] },
    { type: 'error', lines: ['- no error', '+ late'] },
    { type: 'state', key: 'a', lines: ['- 1', '+ 2'] },
  ]);
  assert.deepEqual(differencesOf(expected, expected, []), []);
});

test('only the first of thousands of different steps are listed', () => {
  const steps = Array.from({ length: 3_000 }, (_, index) => `A -> ${index}`);
  const [difference] = differencesOf(
    [{ flow: 'F', steps: ['A -> 0', 'B -> end'], shared: {} }],
    [{ flow: 'F', steps, shared: {} }],
    [],
  );
  const lines = difference?.lines ?? [];
  assert.deepEqual(lines.slice(0, 4), ['  A -> 0', '- B -> end', '+ A -> 1', '+ A -> 2']);
  assert.equal(lines.at(-1), '+ … 2,979 steps more');
  assert.equal(lines.length, 23);
});

test('two runs whose branches ended in another order do not differ', () => {
  const timeline = (order: readonly (readonly [string, readonly number[]])[]): RunTimeline => {
    const [only] = timelinesOf([
      { type: 'run-start', run, name: 'F', startedAt: 0, state: {} },
      { type: 'node-start', ...place('first', 1, 0) },
      { type: 'node-end', ...place('first', 1, 0), ...took },
      ...order.flatMap(([node, lane], index): RunEvent[] => [
        { type: 'node-start', ...place(node, 1, index), lane },
        { type: 'node-end', ...place(node, 1, index), ...took },
      ]),
      { type: 'node-start', ...place('last', 1, 90) },
      { type: 'node-end', ...place('last', 1, 95), ...took },
    ]);
    return only ?? assert.fail('no timeline');
  };
  const written = timeline([
    ['a/x', [0]],
    ['a/y', [0]],
    ['b[0]/x', [1, 0]],
    ['b[1]/x', [1, 1]],
    ['b', [1]],
  ]);
  const mixed = timeline([
    ['b[1]/x', [1, 1]],
    ['a/x', [0]],
    ['b[0]/x', [1, 0]],
    ['b', [1]],
    ['a/y', [0]],
  ]);
  assert.equal(compareRuns(written, mixed), undefined);
  const other = timeline([
    ['b[1]/x', [1, 1]],
    ['a/z', [0]],
    ['b[0]/x', [1, 0]],
    ['b', [1]],
    ['a/y', [0]],
  ]);
  assert.deepEqual(compareRuns(written, other), {
    index: 2,
    reason: 'One run continued with F/a/x, the other with F/a/z.',
  });
});
