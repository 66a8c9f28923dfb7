import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  endingOf,
  endingWithoutResults,
  explainedEnding,
  mayHaveBeenEnded,
} from '../../../../src/service/jobs/jobEnding.ts';
import { localMachineClasses } from '../../../../src/service/config/machineClasses.ts';
import type { ExitMarker } from '../../../../src/service/jobFiles/markers.ts';
import type { StoredJob } from '../../../../src/service/store/jobs/jobTable.ts';

const machineClasses = localMachineClasses();
const job = { machineClass: 'local', hold: 1_000_000, maxRuntime: 60 } as StoredJob;
const exited: ExitMarker = { outcome: 'exited', code: 0, signal: null, detail: null, at: 1, ranSeconds: 1 };

const stateOf = (exit: Partial<ExitMarker>, isCancelled: boolean): string =>
  endingOf(job, { ...exited, ...exit }, { machineClasses, isCancelled }).state;

test('a script that a signal stopped after it was asked to stop was cancelled, however the signal is reported', () => {
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

test('a script that ended at its time limit or later is over it, and then never has a status of 0', () => {
  const ending = (exit: Partial<ExitMarker>) =>
    endingOf(job, { ...exited, ...exit }, { machineClasses, isCancelled: false });
  for (const exit of [
    { ranSeconds: 60 },
    { ranSeconds: 60.2 },
    { outcome: 'timed_out', ranSeconds: 60.2 },
    { outcome: 'stopped', ranSeconds: 60.2, wasToldToEnd: true },
  ] as const) {
    const { state, exitCode } = ending(exit);
    assert.deepEqual([state, exitCode], ['timed_out', null]);
  }
  assert.deepEqual([ending({ ranSeconds: 59.99 }).state, ending({ ranSeconds: 59.99 }).exitCode], ['succeeded', 0]);
  assert.equal(ending({ ranSeconds: 61, code: 7 }).exitCode, 7);
});

test('an end that may have come from outside is one to ask about, and any other is not', () => {
  for (const exit of [
    { wasToldToEnd: true },
    { outcome: 'stopped' },
    { code: 143 },
    { code: null, signal: 'SIGKILL' },
  ] as const) {
    assert.ok(mayHaveBeenEnded({ ...exited, ...exit }), JSON.stringify(exit));
  }
  for (const exit of [
    {},
    { code: 7 },
    { outcome: 'timed_out' },
    { outcome: 'timed_out', wasToldToEnd: true },
    { wasToldToEnd: false },
  ] as const) {
    assert.ok(!mayHaveBeenEnded({ ...exited, ...exit }), JSON.stringify(exit));
  }
});

test('an ending that is not charged costs nothing, however long the script ran', () => {
  const own = endingOf(job, { ...exited, ranSeconds: 30 }, { machineClasses, isCancelled: false });
  assert.ok(own.charged > 0);
  const reported = { state: 'failed', reason: 'The node went away.', isCause: true } as const;
  assert.deepEqual(explainedEnding(own, { ...reported, isCharged: false }), {
    ...own,
    state: 'failed',
    reason: reported.reason,
    exitCode: null,
    charged: 0,
  });
  assert.equal(explainedEnding(own, { ...reported, isCharged: true }).charged, own.charged);
});

test('a job whose results are lost says how its script or command ended', () => {
  const ending = { state: 'succeeded', reason: null, exitCode: 0, charged: 0, finishedAt: 0 } as const;
  for (const [command, word] of [
    [null, 'script'],
    ['["make"]', 'command'],
  ] as const) {
    const { state, reason } = endingWithoutResults({ command }, ending, 'are incomplete.');
    assert.equal(state, 'failed');
    assert.equal(reason, `The results are incomplete. The ${word} itself exited with status 0.`);
  }
});
