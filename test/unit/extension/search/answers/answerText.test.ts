import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnswerTurn, answerText } from '../../../../../src/extension/search/answers/answerText.ts';

const turn: AnswerTurn = {
  question: 'How are\nlocks taken?',
  excerpts: [{ number: 1, path: 'src/a.ts', file: '/project/src/a.ts', startLine: 1, endLine: 9, text: '' }],
  answer: 'By whoever comes first [1].\n',
  state: 'done',
  problem: '',
  model: 'stub-1',
  place: 'models.example.org',
  sentBytes: 2048,
};

test('an answer says what was sent, to whom, and from which places', () => {
  assert.equal(
    answerText([turn]),
    [
      '# How are locks taken?',
      'By whoever comes first [1].',
      '_Answer of stub-1 at models.example.org, which received 1 excerpt from 1 file, 2.0 KB._',
      'Sources:',
      '- [1] src/a.ts:1-9\n',
    ].join('\n\n'),
  );
});

test('what came before it stopped or failed stays', () => {
  assert.match(answerText([{ ...turn, state: 'stopped' }]), /comes first[^]*_Stopped\./);
  const failed = answerText([{ ...turn, state: 'failed', problem: 'The key was not taken.' }]);
  assert.match(failed, /comes first[^]*\*\*No answer:\*\* The key was not taken\./);
});

test('escape sequences of a model do not reach the document', () => {
  assert.doesNotMatch(answerText([{ ...turn, answer: 'a\u001b[31mb\u202ec' }]), /\u001B|\u202E/);
});
