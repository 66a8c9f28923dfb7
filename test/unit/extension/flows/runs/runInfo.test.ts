import assert from 'node:assert/strict';
import { test } from 'node:test';
import { infoOf } from '../../../../../src/extension/flows/runs/runInfo.ts';
import { processOwner } from '../../../../../src/core/processes/processOwner.ts';
import type { RunRecord } from '../../../../../src/flows/run/history/runRecord.ts';
import { readText } from '../../../flows/reading.ts';

const { flows: FLOWS } = readText(`
  import { Flow, Node } from 'farwharf/agents';
  class Search extends Node {}
  const search = new Search();
  export const research = new Flow({ start: search }).connect(search, null, 'default');
`);

const RUN: RunRecord = {
  version: 1,
  id: 'run-1',
  file: '/model/flow.ts',
  flow: 'research',
  startedAt: '2026-11-20T12:00:00.000Z',
  finishedAt: '2026-11-20T12:00:02.500Z',
  outcome: { type: 'done', exitCode: 0 },
};
const WAITING: RunRecord['outcome'] = { type: 'waiting', path: 'research/Search', question: 'Which harbour?' };
const UNENDED = { outcome: undefined, finishedAt: undefined };
const GONE = processOwner().replace(/\w{8}$/, '00000000');
const ELSEWHERE = processOwner().replace(/^\w{8}/, '00000000');
const ERROR = { name: 'Error', message: 'no harbour' };

for (const [what, change, state] of [
  ['ended well is done', {}, 'done'],
  ['ended well in a process that failed has failed', { outcome: { type: 'done', exitCode: 1 } }, 'failed'],
  ['threw has failed', { outcome: { type: 'failed', error: ERROR } }, 'failed'],
  ['could not start has failed', { outcome: { type: 'refused', error: ERROR } }, 'failed'],
  ['left early has failed', { outcome: { type: 'exited', code: 13 } }, 'failed'],
  ['was killed has failed', { outcome: { type: 'killed', signal: 'SIGKILL' } }, 'failed'],
  ['was stopped is stopped', { outcome: { type: 'stopped' } }, 'stopped'],
  ['has no end was stopped with its window', { outcome: undefined, finishedAt: undefined }, 'stopped'],
  ['a program that is gone has not ended is stopped', { ...UNENDED, owner: GONE }, 'stopped'],
  ['another program runs is running', { ...UNENDED, owner: processOwner() }, 'running'],
  ['runs on another machine may be running', { ...UNENDED, owner: ELSEWHERE }, 'running'],
  ['asked is waiting', { outcome: WAITING }, 'waiting'],
  ['asked and was answered is answered', { outcome: WAITING, answeredBy: 'run-2' }, 'answered'],
] as const satisfies readonly (readonly [string, Partial<RunRecord>, string])[]) {
  test(`a run that ${what}`, () => {
    assert.equal(infoOf({ ...RUN, ...change }, FLOWS).state, state);
  });
}

test('only a run that did not end well says why', () => {
  assert.equal(infoOf(RUN, FLOWS).message, undefined);
  assert.equal(infoOf({ ...RUN, outcome: undefined }, FLOWS).message, undefined);
  for (const [outcome, message] of [
    [{ type: 'failed', error: ERROR }, 'no harbour'],
    [{ type: 'failed', error: { ...ERROR, path: 'research/Search' } }, 'research/Search: no harbour'],
    [{ type: 'refused', error: ERROR }, 'no harbour'],
    [{ type: 'stopped' }, undefined],
    [{ type: 'done', exitCode: 1 }, 'done, but the process exited with status 1'],
    [{ type: 'killed', signal: 'SIGKILL' }, 'killed by SIGKILL from outside: memory may have run out'],
  ] as const) {
    assert.equal(infoOf({ ...RUN, outcome }, FLOWS).message, message);
  }
});

test('a question is offered until it is answered', () => {
  assert.equal(infoOf({ ...RUN, outcome: WAITING }, FLOWS).pause?.question, 'Which harbour?');
  assert.equal(infoOf({ ...RUN, outcome: WAITING, answeredBy: 'run-2' }, FLOWS).pause, undefined);
});

test('a run lasts from its start to its end, and has no duration without one', () => {
  assert.equal(infoOf(RUN, FLOWS).durationMs, 2_500);
  assert.equal(infoOf({ ...RUN, finishedAt: undefined }, FLOWS).durationMs, undefined);
});

test('a run belongs to the flow with its id, else to the one with its name, else it keeps what it was recorded with', () => {
  const flowOf = (change: Partial<RunRecord>): string => infoOf({ ...RUN, flow: undefined, ...change }, FLOWS).flow;
  const label = FLOWS[0]?.label;
  assert.equal(flowOf({ flow: 'research' }), 'research');
  assert.equal(flowOf({ name: label }), 'research');
  assert.equal(flowOf({ flow: 'removed', name: 'Removed' }), 'removed');
  assert.equal(flowOf({ name: 'Removed' }), 'Removed');
  assert.equal(flowOf({}), '');
});
