import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFinalState, isJobState, JOB_STATES } from '../../../../src/remote/protocol/states.ts';

test('a job has eight states, of which five are final', () => {
  assert.deepEqual(JOB_STATES, [
    'queued',
    'starting',
    'running',
    'succeeded',
    'failed',
    'cancelled',
    'timed_out',
    'lost',
  ]);
  assert.deepEqual(JOB_STATES.filter(isFinalState), JOB_STATES.slice(3));
  assert.ok(JOB_STATES.every(isJobState));
});

test('another word is no state, and not final', () => {
  for (const word of ['', 'done', 'Running', 'toString'])
    assert.deepEqual([isJobState(word), isFinalState(word)], [false, false]);
  assert.deepEqual([isJobState(undefined), isJobState(0)], [false, false]);
});
