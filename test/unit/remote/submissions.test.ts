import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metaOf } from '../../../src/remote/transfers/submission.ts';
import { answerJson, serve } from './server.ts';

test('the outcome of a submission is a job, a check, or the bytes received so far', async (t) => {
  const outcomes: object[] = [
    { state: 'accepted', account_id: 'a', job_id: 'j1', credit_hold: 2, credits_remaining: 8 },
    { state: 'checking', account_id: 'a' },
    { state: 'incomplete', account_id: 'a', received_bytes: 4_096 },
  ];
  const asked: (string | undefined)[] = [];
  const { client } = await serve(t, (request, response) => {
    asked.push(request.url);
    answerJson(response, outcomes[asked.length - 1]);
  });
  for (const outcome of outcomes) assert.deepEqual(await client.getSubmission('a/key 1'), outcome);
  assert.equal(asked[0], '/v1/submissions/a%2Fkey%201');
});

test('an outcome without its state, job or bytes is that of a service without keys', async (t) => {
  const others = [
    {},
    { state: 'gone' },
    { state: 'accepted' },
    { state: 'accepted', job_id: 'a b' },
    { state: 'incomplete' },
    { state: 'incomplete', received_bytes: -1 },
    { state: 'incomplete', received_bytes: 'all' },
  ];
  const answers = others.values();
  const { client } = await serve(t, (_request, response) => answerJson(response, answers.next().value));
  for (const answer of others) assert.equal(await client.getSubmission('key'), undefined, JSON.stringify(answer));
});

test('a service without keys for submissions knows no outcome, and any other failure is thrown', async (t) => {
  const statuses = [404, 405, 501, 302, 500, 401];
  const { client } = await serve(t, (_request, response) => answerJson(response, {}, statuses.shift()));
  for (let index = 0; index < 4; index += 1) assert.equal(await client.getSubmission('key'), undefined);
  await assert.rejects(client.getSubmission('key'), { status: 500 });
  await assert.rejects(client.getSubmission('key'), { status: 401 });
});

test('what a job asks for is sent, and what is empty is left out', () => {
  const least = { script: 'a.sh', maxRuntime: 60 };
  assert.deepEqual(metaOf(least), { script: 'a.sh', max_runtime: 60 });
  assert.deepEqual(
    metaOf({ ...least, secrets: [], volumes: [], venv: {}, project: '', machineClass: '' }),
    metaOf(least),
  );
  const cluster = { qos: 'high' };
  assert.deepEqual(metaOf({ ...least, secrets: ['KEY'], volumes: ['data'], cluster }), {
    ...metaOf(least),
    secrets: ['KEY'],
    volumes: ['data'],
    cluster,
  });
});
