import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rejection } from '../rejection.ts';
import { answerJson, serve } from './server.ts';

const KEPT = {
  name: 'requirements.txt',
  contents: 'a'.repeat(64),
  built_at: '2026-01-02T03:04:05Z',
  last_used_at: '2026-01-03T03:04:05.000Z',
  build_seconds: 12.5,
  bytes: 1_000,
};

test('the environments that a service keeps are listed, and a list of another form is an error', async (t) => {
  let answer: object = { environments: [KEPT] };
  const asked: string[] = [];
  const { client } = await serve(t, (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answerJson(response, answer);
  });
  assert.deepEqual(await client.listEnvironments(), [KEPT]);
  assert.deepEqual(asked, ['GET /v1/environments']);
  for (const field of Object.keys(KEPT)) {
    answer = { environments: [{ ...KEPT, [field]: null }] };
    assert.match((await rejection(client.listEnvironments())).message, new RegExp(`environments\\.0\\.${field}`));
  }
});
