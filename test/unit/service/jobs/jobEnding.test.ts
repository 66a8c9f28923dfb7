import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endingOf } from '../../../../src/service/jobs/jobEnding.ts';
import { localMachineClasses } from '../../../../src/service/config/machineClasses.ts';
import type { ExitMarker } from '../../../../src/service/runner/jobFolder.ts';
import type { StoredJob } from '../../../../src/service/store/jobs.ts';

const machineClasses = localMachineClasses({ isPractice: false });
const job = { machineClass: 'local', hold: 1_000_000 } as StoredJob;
const exited: ExitMarker = { outcome: 'exited', code: 0, signal: null, detail: null, at: 1, ranSeconds: 1 };

const stateOf = (exit: Partial<ExitMarker>, isCancelled: boolean): string =>
  endingOf(job, { ...exited, ...exit }, { machineClasses, isCancelled }).state;

test('a script that a signal ended after it was asked to end was cancelled, however the signal is told', () => {
  assert.equal(stateOf({ code: null, signal: 'SIGTERM' }, true), 'cancelled');
  assert.equal(stateOf({ code: 143 }, true), 'cancelled');
  assert.equal(stateOf({ outcome: 'stopped' }, true), 'cancelled');
});

test('a script that ended by itself keeps its own end, also when it was asked to end meanwhile', () => {
  assert.equal(stateOf({ code: 0 }, true), 'succeeded');
  assert.equal(stateOf({ code: 3 }, true), 'failed');
});

test('a script that a signal ended and nobody cancelled has failed', () => {
  assert.equal(stateOf({ code: 143 }, false), 'failed');
  assert.equal(stateOf({ code: null, signal: 'SIGKILL' }, false), 'failed');
});
