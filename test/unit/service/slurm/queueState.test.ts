import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClusterJob, wasDropped } from '../../../../src/service/slurm/queueState.ts';

const job = (state: string, nodes = 'n1'): ClusterJob => ({ number: 7, name: 'j', state, reason: '', nodes });

test('a job that the cluster lost with its node before it began is one to submit again', () => {
  const untouched = { hasStarted: false, words: '' };
  for (const state of ['NODE_FAIL', 'BOOT_FAIL', 'LAUNCH_FAILED', 'CANCELLED']) {
    assert.ok(wasDropped(job(state), untouched), state);
    assert.ok(!wasDropped(job(state), { hasStarted: true, words: '' }), `${state} after it began`);
  }
});

test('a job that somebody cancelled, that was preempted or that failed is not', () => {
  assert.ok(!wasDropped(job('CANCELLED', ''), { hasStarted: false, words: '' }), 'before it had a node');
  assert.ok(!wasDropped(job('CANCELLED'), { hasStarted: false, words: 'slurmstepd: *** CANCELLED ***' }));
  for (const state of ['FAILED', 'TIMEOUT', 'OUT_OF_MEMORY', 'PREEMPTED', 'COMPLETED']) {
    assert.ok(!wasDropped(job(state), { hasStarted: false, words: '' }), state);
  }
});
