import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MarkedLineWriter } from '../../../../src/core/text/markedLines.ts';
import { FlowPauses } from '../../../../src/jobs/log/recorder.ts';

const pause = { question: 'Publish it?', choices: ['yes', 'no'], path: 'Publish/Review' };
const end = (more: object) => ({ type: 'run-end', run: 1, at: 5, ...more });

test('the question of a flow is found in its flow events, until a run ends without one', () => {
  const pauses = new FlowPauses();
  assert.equal(pauses.push('flow', { type: 'run-start', run: 1 }), undefined);
  assert.deepEqual(pauses.push('flow', end({ pause })), pause);
  assert.equal(pauses.push('flow', end({ action: 'done' })), null);
  assert.equal(pauses.push('state', { state: 'succeeded' }), undefined);
});

test('it is found in the log of a service without flow events, where lines may be cut anywhere', () => {
  let log = 'hello\n';
  new MarkedLineWriter((line) => {
    log += line;
  }).write(end({ pause }));
  const pauses = new FlowPauses();
  assert.equal(pauses.push('log', { stream: 'stdout', text: log.slice(0, 30) }), undefined);
  assert.deepEqual(pauses.push('log', { stream: 'stdout', text: log.slice(30) }), pause);
});

test('what is no question, or is too large to be stored, is none', () => {
  const pauses = new FlowPauses();
  assert.equal(pauses.push('flow', end({ pause: { question: 5 } })), null);
  const room = 20_000 - JSON.stringify({ ...pause, question: '' }).length;
  const largest = { ...pause, question: 'x'.repeat(room) };
  assert.deepEqual(pauses.push('flow', end({ pause: largest })), largest);
  assert.equal(pauses.push('flow', end({ pause: { ...pause, question: 'x'.repeat(room + 1) } })), null);
  assert.equal(pauses.push('flow', 'run-end'), undefined);
});
