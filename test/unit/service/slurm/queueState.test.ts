import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ClusterJob,
  endingOfClusterJob,
  neverStarts,
  waitingReason,
  wasDropped,
} from '../../../../src/service/slurm/queueState.ts';

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

test('a job that waits says why, and only that it waits while Slurm has no reason yet', () => {
  assert.equal(waitingReason({ ...job('PENDING'), reason: 'Resources' }), 'Waiting in the cluster: Resources.');
  for (const reason of ['', 'None']) {
    assert.equal(waitingReason({ ...job('PENDING'), reason }), 'Waiting in the cluster.');
  }
  assert.equal(waitingReason({ ...job('CONFIGURING'), reason: 'None' }), 'Waiting in the cluster: configuring.');
});

test('a job that its partition does not accept, or that asks for too much of it, never starts', () => {
  const never = (reason: string) => neverStarts({ ...job('PENDING'), reason }) ?? '';
  for (const reason of [
    'AccountNotAllowed',
    "Job's account not known, so it can't use this partition (gpu allows physics)",
    "Job's account not permitted to use this partition (gpu allows physics not chem)",
    "Job's QOS not permitted to use this partition (gpu allows high not normal)",
  ]) {
    assert.match(never(reason), /does not accept it: .*Choose another machine class, or another account/);
  }
  assert.match(never('PartitionTimeLimit'), /Lower the time limit/);
  for (const reason of ['Resources', 'Priority', 'QOSMaxJobsPerUserLimit', 'Dependency'])
    assert.equal(never(reason), '');
});

test('what the cluster took from a job is not charged, and what the job did itself is', () => {
  const started = { hasStarted: true, words: '' };
  const ending = (of: Partial<ClusterJob> & { state: string }) =>
    endingOfClusterJob({ ...job(of.state), ...of }, started, 1000);
  for (const state of ['PREEMPTED', 'NODE_FAIL', 'BOOT_FAIL', 'LAUNCH_FAILED', 'CANCELLED']) {
    const { isCharged, isCause, reason } = ending({ state });
    assert.deepEqual([isCharged, isCause], [false, true], state);
    assert.match(reason, /Nothing was charged\.$/, state);
  }
  for (const state of ['TIMEOUT', 'DEADLINE', 'OUT_OF_MEMORY']) {
    const { isCharged, isCause, reason } = ending({ state });
    assert.deepEqual([isCharged, isCause], [true, true], state);
    assert.doesNotMatch(reason, /charged/, state);
  }
  for (const state of ['COMPLETED', 'FAILED', 'A_WORD_OF_TOMORROW'])
    assert.equal(ending({ state }).isCause, false, state);
});

test('a job that cancels itself in the cluster is charged where the accounts name its user, and root is no job', () => {
  const started = { hasStarted: true, words: '' };
  const charged = (cancelledBy: number | undefined, user: number): boolean =>
    endingOfClusterJob({ ...job('CANCELLED'), cancelledBy }, started, user).isCharged;
  assert.equal(charged(1000, 1000), true);
  assert.equal(charged(1001, 1000), false);
  assert.equal(charged(undefined, 1000), false);
  assert.equal(charged(0, 0), false);
});
