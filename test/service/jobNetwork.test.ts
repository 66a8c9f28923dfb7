import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isolateJobs, isolationIsMissing } from './support/isolation.ts';
import { startService, testConfig } from './support/service.ts';

const missing = await isolationIsMissing();
const TOKEN = 'a-token-for-those-who-watch';

/** Asks the service that runs the job, and prints the status of each answer with the start of its body. */
const ASK = `const [, , url] = process.argv;
for (const [method, path] of [
  ['GET', '/v1/me'], ['GET', '/v1/jobs'], ['POST', '/v1/jobs'], ['DELETE', '/v1/jobs/' + process.env.FARWHARF_JOB_ID],
  ['GET', '/v1/jobs/' + process.env.FARWHARF_JOB_ID + '/events'], ['GET', '/metrics'], ['GET', '/admin/v1/accounts.list'],
]) {
  const answer = await fetch(url + path, { method });
  console.log(method, path.replace(process.env.FARWHARF_JOB_ID, 'ID'), answer.status);
}`;

describe('an isolated job that has the network', () => {
  if (missing !== undefined) {
    test('is not tested here', (t) => t.skip(`NO ISOLATION: ${missing}`));
    return;
  }
  isolateJobs();

  test('gets nothing from the port of the service that runs it, which has no key for it', async (t) => {
    const service = await startService(t, { config: { ...testConfig(), metrics: { enabled: true, token: TOKEN } } });
    const id = await service.submit({ 'a.mjs': ASK }, { script: `a.mjs ${service.url}` });
    const job = await service.untilEnd(id);
    assert.equal(job.state, 'succeeded', job.reason ?? '');
    const expected = [
      'GET /v1/me 401',
      'GET /v1/jobs 401',
      'POST /v1/jobs 401',
      'DELETE /v1/jobs/ID 401',
      'GET /v1/jobs/ID/events 401',
      'GET /metrics 403',
      'GET /admin/v1/accounts.list 404',
    ];
    assert.equal(await service.output(id), `${expected.join('\n')}\n`);
    const headers = { authorization: `Bearer ${TOKEN}` };
    assert.equal((await fetch(`${service.url}/metrics`, { headers })).status, 200);
  });
});
