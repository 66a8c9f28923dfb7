import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobIcon, stateWord } from '../../../../src/jobs/ledger/jobIcon.ts';
import { describeParameters, parameterOf } from '../../../../src/jobs/ledger/parameters.ts';

test('a job has the icon of its state, and one in an unknown state that of its end', () => {
  const iconOf = (state: string, exitCode: number | null = null, finishedAt: string | null = null) =>
    jobIcon({ state, exitCode, finishedAt });
  for (const [state, icon] of [
    ['sending', 'sending'],
    ['SENDING', 'sending'],
    ['unknown', 'unknown'],
    ['lost', 'unknown'],
    ['queued', 'queued'],
    ['PENDING', 'queued'],
    ['starting', 'queued'],
    ['running', 'running'],
    ['warming up', 'running'],
    ['succeeded', 'succeeded'],
    ['done', 'succeeded'],
    ['failed', 'failed'],
    ['cancelled', 'cancelled'],
    ['canceled', 'cancelled'],
    ['timed_out', 'timed-out'],
    ['timeout', 'timed-out'],
  ] as const) {
    assert.equal(iconOf(state), icon, state);
  }
  assert.equal(iconOf('succeeded', 1), 'failed');
  assert.equal(iconOf('warming up', 0), 'failed', 'nobody says that it succeeded');
  assert.equal(iconOf('warming up', null, '2026-01-01T00:00:00Z'), 'failed');
  assert.equal(iconOf('completed', 0, '2026-01-01T00:00:00Z'), 'succeeded');
});

test('a state is shown in words, and one that only its service knows as it is', () => {
  for (const state of [
    'sending',
    'unknown',
    'lost',
    'queued',
    'starting',
    'running',
    'succeeded',
    'failed',
    'cancelled',
  ]) {
    assert.equal(stateWord(state), state);
  }
  assert.deepEqual(['timed_out', 'timed-out', 'xtimed_out', 'warming_up_now', 'toString'].map(stateWord), [
    'timed out',
    'timed out',
    'xtimed out',
    'warming up now',
    'toString',
  ]);
});

test('parameters are shown by name, and a text stands for the value that it is written as', () => {
  assert.equal(
    describeParameters({ lr: 0.1, seed: 2, on: true, name: 'a\u001b[2Jb' }),
    'lr=0.1 seed=2 on=true name=ab',
  );
  assert.deepEqual(['true', 'false', '1', '0.5', '-1', '1e21', 'True', '01', '1.0', '', 'NaN', 'a'].map(parameterOf), [
    true,
    false,
    1,
    0.5,
    -1,
    '1e21',
    'True',
    '01',
    '1.0',
    '',
    NaN,
    'a',
  ]);
});
