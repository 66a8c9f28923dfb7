import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { notifyQuestions } from '../../../../src/extension/jobs/questionNotifications.ts';
import { jobRecord } from '../jobs.ts';

const waiting = (id: string, question: string) =>
  jobRecord({ id, script: `${id}.mts`, waiting: { path: 'main/ask', question } });

test('each waiting job asks its question, whether or not the questions of others are answered', async () => {
  const asked: string[] = [];
  const run: unknown[] = [];
  const answers = [new Promise<undefined>(() => {}), Promise.resolve('Answer')];
  void notifyQuestions([waiting('first', 'Send it?'), waiting('second', 'Which one?'), jobRecord({ id: 'third' })], {
    wasSubmittedHere: () => true,
    show: (text) => {
      asked.push(text);
      return answers[asked.length - 1] ?? assert.fail(text);
    },
    run: async (...call) => void run.push(call),
  });
  assert.deepEqual(asked, ['first.mts waits for an answer: Send it?', 'second.mts waits for an answer: Which one?']);
  // The second notification has been answered, the first is still open.
  while (run.length === 0) await setImmediate();
  assert.deepEqual(run, [['farwharf.answerJob', 'second']]);
});
