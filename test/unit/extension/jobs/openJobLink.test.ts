import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openJobLink } from '../../../../src/extension/jobs/openJobLink.ts';
import { newRecord } from '../../../../src/jobs/ledger/record.ts';

const HOST = 'https://gpu.example.org';
const JOB = newRecord({
  id: 'own-id',
  host: HOST,
  jobId: 'job-1',
  state: 'running',
  script: 'train.py',
  maxRuntime: 60,
  folder: '/model',
  createdAt: '2026-01-01T00:00:00Z',
});

/** Opens a link to a job; returns the questions that were asked and the commands that were run. */
async function open(
  host: string,
  jobId: string,
  { answer, current = HOST, isRemoved = false }: { answer?: string; current?: string; isRemoved?: boolean },
) {
  const asked: string[] = [];
  const run: unknown[] = [];
  const deps = {
    ledger: {
      findJob: async (ofHost: string, id: string) =>
        ofHost === JOB.host && id === JOB.jobId ? { ...JOB, removed: isRemoved } : undefined,
    },
    hosts: { current: () => current },
    ask: async (question: string, { detail }: { detail: string }, button: string) => {
      asked.push(`${question} ${detail} [${button}]`);
      return answer;
    },
    run: async (command: string, argument: unknown) => {
      run.push([command, argument]);
      return command === 'farwharf.addJob' ? 'added-id' : undefined;
    },
  };
  const outcome = openJobLink(deps, { path: '/job', query: new URLSearchParams({ host, id: jobId }).toString() });
  const error = await outcome.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return { asked, run, error };
}

test('a link to a job in the list shows its page after a question', async () => {
  const { asked, run } = await open(HOST, 'job-1', { answer: 'Show' });
  assert.deepEqual(asked, ['Show job job-1? train.py on gpu.example.org [Show]']);
  assert.deepEqual(run, [['farwharf.showJobPage', 'own-id']]);
});

test('a job of the selected service is added after a question, also one that was removed', async () => {
  for (const [jobId, isRemoved] of [
    ['job-2', false],
    ['job-1', true],
  ] as const) {
    const { asked, run } = await open(HOST, jobId, { answer: 'Add', isRemoved });
    assert.match(String(asked), /^Add job job-\d\? .* ask gpu\.example\.org for it/);
    assert.deepEqual(run, [
      ['farwharf.addJob', { jobId }],
      ['farwharf.showJobPage', 'added-id'],
    ]);
  }
});

test('a link does nothing if the question is closed', async () => {
  for (const jobId of ['job-1', 'job-2']) assert.deepEqual((await open(HOST, jobId, {})).run, []);
});

test('a link chooses no service: nobody is asked about a job elsewhere, and nothing is sent there', async () => {
  const { asked, run, error } = await open('https://evil.example.org', 'job-1', { answer: 'Add' });
  assert.match(String(error), /The link leads to a job on evil\.example\.org, but this window uses gpu\.example\.org/);
  assert.deepEqual([asked, run], [[], []]);
});
