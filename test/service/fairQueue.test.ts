import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Store } from '../../src/service/store/store.ts';
import { addAccount } from './support/accounts.ts';
import { jobsAtOnce, type JobBody, type ServiceClient, startService } from './support/service.ts';

// 10,000 with FARWHARF_TEST_TIMES=50.
const JOBS = 200 * Number(process.env['FARWHARF_TEST_TIMES'] ?? 1);
const UPLOADS = 8;
const PAGE = 500;
const SHORT = { 'a.sh': 'true' };

type ListedJob = JobBody & { readonly created_at: string };

async function allJobs(client: ServiceClient): Promise<ListedJob[]> {
  const all: ListedJob[] = [];
  for (;;) {
    const before = all.length === 0 ? '' : `&before=${all.at(-1)?.job_id}`;
    const { jobs } = await client.json<{ jobs: ListedJob[] }>(`/v1/jobs?limit=${PAGE}${before}`);
    all.push(...jobs);
    if (jobs.length < PAGE) return all;
  }
}

test('thousands of jobs that one account submits in a hurry delay the job of another by one job, and each is one job', async (t) => {
  const service = await startService(t, { config: jobsAtOnce(1) });
  const limits = { queued_jobs: 2 * JOBS, requests_per_minute: 1_000_000, uploads: UPLOADS };
  const { client: ada } = await addAccount(service, 'ada', { limits });
  const { client: bob } = await addAccount(service, 'bob');
  const submitted: string[] = [];
  let bobs: Promise<string> | undefined;
  const submitMany = async (): Promise<void> => {
    while (submitted.length < JOBS) {
      submitted.push('');
      const place = submitted.length - 1;
      if (place === JOBS / 2) bobs = bob.submit(SHORT, { script: 'a.sh', max_runtime: 60 });
      submitted[place] = await ada.submit(SHORT, { script: 'a.sh', max_runtime: 60 });
    }
  };
  await Promise.all(Array.from({ length: UPLOADS }, submitMany));
  const { job_id: id } = await bob.untilEnd((await bobs) ?? '');
  const job = await bob.json<ListedJob>(`/v1/jobs/${id}`);
  const adas = await allJobs(ada);
  assert.deepEqual(adas.map(({ job_id: each }) => each).sort(), submitted.toSorted());
  assert.ok(
    adas.some(({ started_at: startedAt }) => startedAt === null),
    'the machine was busy all the time',
  );
  const between = adas.filter(
    ({ started_at: startedAt }) =>
      startedAt !== null && startedAt > job.created_at && startedAt < (job.started_at ?? ''),
  );
  assert.ok(between.length <= 1, `${between.length} jobs began first`);

  await service.stop();
  const store = new Store(service.data); // which checks the ledger
  t.after(() => store.dispose());
  const { available, held, spent } = store.balances('ada');
  const charged = store.jobs.list('ada', 2 * JOBS).reduce((sum, { charged: micro }) => sum + (micro ?? 0), 0);
  const holds = store.jobs.unfinished().reduce((sum, { hold }) => sum + hold, 0);
  assert.deepEqual([available + held + spent, held, spent], [1_000_000_000, holds, charged]);
});
