import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  classNames,
  declaredAccount,
  declaredJob,
  logTextOf,
  stateOfWord,
  wordsForStates,
} from '../../../../src/remote/protocol/spellings.ts';

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

test('every word for a state is known', () => {
  const words = {
    queued: 'queued pending',
    starting: 'starting',
    running: 'running',
    succeeded: 'succeeded success completed complete done finished',
    failed: 'failed error errored killed stopped preempted',
    cancelled: 'cancelled canceled aborted',
    timed_out: 'timed_out timeout timedout expired',
    lost: 'lost',
  };
  for (const [state, list] of Object.entries(words)) {
    for (const word of list.split(' ')) assert.equal(stateOfWord(word), state, word);
    assert.deepEqual(
      wordsForStates((each) => each === state),
      list.split(' '),
    );
  }
  assert.equal(stateOfWord(''), undefined);
});

test('credits are in the first of their fields that is a number', () => {
  for (const [reply, credits] of [
    [{ credits: 1, credits_remaining: 2, balance: 3 }, 1],
    [{ credits: 'many', credits_remaining: 2, balance: 3 }, 2],
    [{ balance: 0 }, 0],
  ] as const) {
    assert.deepEqual(declaredAccount(reply), { ...reply, credits });
  }
  for (const reply of [{ plan: 'a' }, { credits: '1' }, [1], 'text', null])
    assert.deepEqual(declaredAccount(reply), reply);
});

test('a rate card is a list of its lines, however it is written', () => {
  const cardOf = (reply: object): unknown => (declaredAccount(reply) as Record<string, unknown>)['rate_card'];
  for (const [card, lines] of [
    [[], []],
    [{}, []],
    [{ gpu: 2, note: 'per minute', list: [1] }, [{ credits_per_minute: 2, machine_class: 'gpu' }]],
    [{ credits_per_hour: 60 }, [{ credits_per_hour: 60, credits_per_minute: 1 }]],
    [
      { gpu: { name: 'other', credits_per_second: 2 } },
      [{ name: 'other', credits_per_second: 2, machine_class: 'gpu', credits_per_minute: 120 }],
    ],
    [[{ name: 'a', class: 'b', id: 'c' }], [{ name: 'a', class: 'b', id: 'c', machine_class: 'a' }]],
    [[{ machineClass: 'm', name: 'a' }], [{ machineClass: 'm', name: 'a', machine_class: 'm' }]],
    [[{ credits_per_minute: 1, credits_per_hour: 999 }], [{ credits_per_minute: 1, credits_per_hour: 999 }]],
    [[{ credits_per_minute: 'x', credits_per_hour: 120 }], [{ credits_per_minute: 2, credits_per_hour: 120 }]],
    [
      ['text', 5, null, [1]],
      [{}, { credits_per_minute: 5 }, {}, {}],
    ],
    [[{ machine_class: 5 }], [{ machine_class: 5 }]],
  ] as const) {
    assert.deepEqual(cardOf({ rate_card: card }), lines, JSON.stringify(card));
    assert.deepEqual(cardOf({ rates: card }), lines);
  }
  assert.deepEqual(cardOf({ rate_card: { a: 1 }, rates: { b: 2 } }), [{ credits_per_minute: 1, machine_class: 'a' }]);
  assert.equal(cardOf({ rate_card: 'none' }), 'none');
  assert.equal('rate_card' in (declaredAccount({ rates: 7 }) as object), false);
});

test('a line of a rate card has its names in the usual order', () => {
  const line = { id: 'e', class: 'd', name: 'c', machineClass: 'b', machine_class: 'a', other: 'x' };
  assert.deepEqual(classNames(line), ['a', 'b', 'c', 'd', 'e']);
  assert.deepEqual(classNames({ name: 5 }), []);
});

test('output is in any of its events and fields, the first that has text', () => {
  for (const event of ['log', 'message', 'output'])
    assert.equal(logTextOf(event, { text: 'a', message: 'b', line: 'c' }), 'a');
  assert.equal(logTextOf('log', { text: '', message: 'b', line: 'c' }), 'b');
  assert.equal(logTextOf('log', { line: 'c' }), 'c');
  assert.equal(logTextOf('log', ''), '');
  for (const data of [null, 5, ['a'], {}]) assert.equal(logTextOf('log', data), undefined);
});
