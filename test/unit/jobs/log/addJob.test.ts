import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { addJob } from '../../../../src/jobs/log/addJob.ts';
import { tempHome } from '../fixtures.ts';
import { connectTo } from '../testClient.ts';
import { type Answers, sendJson, TestService } from '../testService.ts';

const JOB = { host: 'https://gpu.example.org', jobId: 'job-7', folder: '/home/ada/model' };

async function setUp(t: TestContext, job: Answers['job']) {
  const ledger = new JobLedger(tempHome(t));
  t.after(() => ledger.dispose());
  const { url } = await TestService.start(t, job === undefined ? {} : { job });
  const deps = { ledger: directLedger(ledger), service: connectTo(url) };
  return { ledger, add: (jobId = JOB.jobId) => addJob(deps, { ...JOB, jobId }, AbortSignal.timeout(10_000)) };
}

test('a job that was sent from elsewhere is listed as its service reports it', async (t) => {
  const created = '2026-01-01T00:00:00.000Z';
  const report = {
    job_id: 'job-7',
    script: 'train.py --lr 1',
    project: 'vision',
    max_runtime: 60,
    created_at: created,
  };
  const { ledger, add } = await setUp(t, (_, response) =>
    sendJson(response, { ...report, state: 'failed', exit_code: 3 }),
  );
  const record = await add();
  assert.deepEqual(ledger.get(record.id), record);
  const { host, jobId, folder, script, project, maxRuntime, createdAt, state, exitCode } = record;
  assert.deepEqual({ host, jobId, folder }, JOB);
  assert.deepEqual([script, project, maxRuntime, createdAt], ['train.py --lr 1', 'vision', 60, created]);
  assert.deepEqual([state, exitCode], ['failed', 3]);
});

test('a service that reports only the state, or fields of other types, is enough', async (t) => {
  const { add } = await setUp(t, (_, response) =>
    sendJson(response, { status: 'RUNNING', script: 5, created_at: 'soon' }),
  );
  const { script, state, project } = await add();
  assert.deepEqual([script, state, project], ['job job-7', 'RUNNING', null]);
});

test('a job is listed once, also if it was removed from the list before', async (t) => {
  const { ledger, add } = await setUp(t, (_, response) => sendJson(response, { state: 'running' }));
  const { id } = await add();
  ledger.remove(id);
  assert.equal((await add()).id, id);
  assert.deepEqual(
    ledger.list().map((record) => record.id),
    [id],
  );
});

test('text that cannot be an ID is not sent, and a job that the service does not have is not listed', async (t) => {
  const { ledger, add } = await setUp(t, undefined);
  await assert.rejects(add('../me'), {
    code: 'bad-input',
    message: 'This is not a job ID. Copy the ID from where the job was submitted.',
  });
  await assert.rejects(add(), { code: 'missing', message: /no job job-7/ });
  assert.deepEqual(ledger.list(), []);
});
