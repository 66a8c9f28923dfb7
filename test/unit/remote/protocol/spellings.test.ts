import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredJob, logTextOf, stateOfWord, wordsForStates } from '../../../../src/remote/protocol/spellings.ts';

test('only log events have output, as plain text or in a field', () => {
  assert.equal(logTextOf('log', 'plain\n'), 'plain\n');
  assert.equal(logTextOf('log', { text: 'in a field\n' }), 'in a field\n');
  assert.equal(logTextOf('log', { text: 5 }), undefined);
  assert.equal(logTextOf('state', 'running'), undefined);
  assert.equal(logTextOf('state', { text: 'running' }), undefined);
});

test('a job may call its state a status, which counts only without a state', () => {
  assert.deepEqual(declaredJob({ status: 'done', id: 1 }), { status: 'done', id: 1, state: 'done' });
  for (const job of [{ state: 'running', status: 'ok' }, { status: 5 }, { status: '' }, ['status'], 'running', null]) {
    assert.equal(declaredJob(job), job);
  }
});

test('words for states are known in any case, and others are not guessed', () => {
  assert.deepEqual(['RUNNING', 'Completed', 'canceled', 'sleeping'].map(stateOfWord), [
    'running',
    'succeeded',
    'cancelled',
    undefined,
  ]);
  assert.deepEqual(
    wordsForStates((state) => state === 'queued'),
    ['queued', 'pending'],
  );
});
