import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { rejection } from '../rejection.ts';
import { answerJson, readAll, serve } from './server.ts';

const VALUE = 'correct horse battery staple';

test('secrets are set, listed and removed by their names', async (t) => {
  const asked: string[] = [];
  const secrets = [{ name: 'HF_TOKEN', changed_at: '2026-01-02T03:04:05Z' }];
  const { client } = await serve(t, (request, response) => {
    void (async () => {
      const body = await readAll(request);
      asked.push(`${request.method} ${request.url} ${request.headers['content-type']} ${body.toString()}`);
      answerJson(response, request.method === 'GET' ? { secrets } : { name: 'HF_TOKEN' });
    })();
  });
  await client.setSecret('HF_TOKEN', VALUE);
  assert.deepEqual(await client.listSecrets(), secrets);
  await client.removeSecret('HF/TOKEN');
  assert.deepEqual(asked, [
    `PUT /v1/secrets/HF_TOKEN application/json {"value":"${VALUE}"}`,
    'GET /v1/secrets undefined ',
    'DELETE /v1/secrets/HF%2FTOKEN undefined ',
  ]);
});

test('the value of a secret is in no error, also when the service repeats it', async (t) => {
  const { client } = await serve(t, (request, response) => {
    void readAll(request).then(() => answerJson(response, { detail: `cannot store ${VALUE}` }, 500));
  });
  const shown = inspect(await rejection(client.setSecret('HF_TOKEN', VALUE)), { depth: 9, showHidden: true });
  assert.match(shown, /HTTP 500: cannot store/);
  assert.ok(!shown.includes(VALUE), shown);
});
