import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnswerTurn, answerText } from '../../../../src/extension/search/answerText.ts';

const turn: AnswerTurn = {
  question: 'How are\nlocks taken?',
  excerpts: [{ number: 1, path: 'src/a.ts', file: '/project/src/a.ts', startLine: 1, endLine: 9, text: '' }],
  answer: 'By the first one [1].\n',
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
      'By the first one [1].',
      '_Answer of stub-1 at models.example.org, which received 1 excerpt from 1 file, 2.0 KB._',
      'Sources:',
      '- [1] src/a.ts:1-9\n',
    ].join('\n\n'),
  );
});

test('the excerpts that an answer cites, by number or by lines, are its sources, and the others were only sent', () => {
  const excerpt = (number: number, path: string, startLine: number, endLine: number) => {
    return { number, path, file: `/project/${path}`, startLine, endLine, text: '' };
  };
  const excerpts = [
    excerpt(1, 'src/a.ts', 1, 9),
    excerpt(2, 'src/a.ts', 10, 20),
    excerpt(3, 'src/b.ts', 1, 5),
    excerpt(4, 'src/c.ts', 1, 5),
  ];
  const answer = 'It waits (src/a.ts:18-25), then asks [3]. See src/c.ts:60 and [7].';
  const [sources, others] =
    answerText([{ ...turn, excerpts, answer }])
      .split('Sources:')[1]
      ?.split('Also sent:') ?? [];
  assert.equal(sources?.trim(), '- [2] src/a.ts:10-20\n- [3] src/b.ts:1-5');
  assert.equal(others?.trim(), '- [1] src/a.ts:1-9\n- [4] src/c.ts:1-5');
  assert.match(answerText([{ ...turn, answer: 'No idea.' }]), /\n\nSent:\n\n- \[1\] src\/a\.ts:1-9\n$/);
  assert.doesNotMatch(answerText([{ ...turn, state: 'streaming' }]), /Sources|Also/);
});

test('what came before it stopped or failed stays', () => {
  assert.match(answerText([{ ...turn, state: 'stopped' }]), /By the first one[^]*_Stopped\./);
  const failed = answerText([{ ...turn, state: 'failed', problem: 'The key was not taken.' }]);
  assert.match(failed, /By the first one[^]*\*\*No answer:\*\* The key was not taken\./);
});

test('escape sequences of a model do not reach the document', () => {
  assert.doesNotMatch(answerText([{ ...turn, answer: 'a\u001b[31mb\u202ec' }]), /\u001B|\u202E/);
});
