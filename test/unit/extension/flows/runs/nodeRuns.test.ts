import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeNodeRun, nodeRunsOf } from '../../../../../src/extension/flows/runs/nodeRuns.ts';
import type { NodeState } from '../../../../../src/flows/run/protocol/nodeState.ts';
import { drawnFile, drawnFlow } from '../../../flows/drawnFlows.ts';

const inner = drawnFlow('inner', ['search -> .']);
const outer = drawnFlow('outer', ['look -> .'], { look: { type: 'flow', flow: 'inner' } });
const file = drawnFile([outer, inner]);

function state(change: Partial<NodeState> = {}): NodeState {
  const usage = { calls: 0, inputTokens: 0, outputTokens: 0, cost: 0 };
  const unchanged = { lastAction: undefined, retries: 0, error: undefined };
  return { status: 'done', visits: 1, micros: 12_400, usage, ...unchanged, ...change };
}

test('visits of one node under several visits of its flow count together', () => {
  const usage = { calls: 1, inputTokens: 90, outputTokens: 10, cost: 0.5 };
  const runs = nodeRunsOf(
    file,
    outer,
    new Map([
      ['outer/look', state({ visits: 2 })],
      ['outer/look/search', state({ micros: 1_000, usage, lastAction: 'again' })],
      ['outer/look#2/search', state({ micros: 2_000, visits: 3, usage, lastAction: 'enough' })],
      ['outer/gone', state()],
    ]),
  );
  assert.deepEqual(
    runs.map(({ node }) => node.id),
    ['look', 'search'],
  );
  assert.deepEqual(
    runs[1]?.state,
    state({
      micros: 3_000,
      visits: 4,
      lastAction: 'enough',
      usage: { calls: 2, inputTokens: 180, outputTokens: 20, cost: 1 },
    }),
  );
});

test('what a node did is one short line', () => {
  assert.equal(describeNodeRun(state()), '12 ms');
  assert.equal(describeNodeRun(state({ micros: 300 })), '<1 ms');
  const usage = { calls: 2, inputTokens: 8_000, outputTokens: 140, cost: 0.0213 };
  assert.equal(
    describeNodeRun(state({ visits: 12, micros: 3_400_000, usage, lastAction: 'retry' })),
    '×12 · 3.4 s · 8.1k tokens · $0.021 · → retry',
  );
  assert.equal(describeNodeRun(state({ status: 'failed', error: 'no key', micros: 2_000 })), '2 ms · failed: no key');
  assert.equal(describeNodeRun(state({ status: 'running', micros: 0 })), 'running', 'its time is not known yet');
});
