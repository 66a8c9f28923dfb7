import assert from 'node:assert/strict';
import { test } from 'node:test';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { surveyJobs } from '../../../../src/jobs/sweeps/surveyJobs.ts';
import { makeRecord, tempHome } from '../fixtures.ts';

const SWEEP = { id: 's', name: 'train', count: 20, parameters: {} };

test('of a sweep, what may exist at the service is known with its state, and what did not arrive is forgotten', async (t) => {
  const jobs = new JobLedger(tempHome(t));
  t.after(() => jobs.dispose());
  const add = (index: number, fields: Parameters<typeof makeRecord>[0]) => {
    const record = makeRecord({ sweep: { ...SWEEP, index }, ...fields });
    jobs.insert(record);
    return record.id;
  };
  const notArrived = add(0, { state: 'failed', jobId: null });
  const ended = add(1, { state: 'failed', jobId: 'ended' });
  const running = Array.from({ length: 10 }, (_, index) => add(index + 2, { state: 'running', jobId: `job-${index}` }));
  jobs.insert(makeRecord({ jobId: 'of no sweep', state: 'running' }));
  const asked: string[] = [];
  const service = {
    me: async () => ({}),
    getJob: async (jobId: string) => {
      asked.push(jobId);
      return { job_id: jobId, state: 'succeeded' };
    },
    getSubmission: () => assert.fail('no outcome is unknown'),
  };
  const { signal } = new AbortController();
  const found = await surveyJobs({ ledger: directLedger(jobs), service }, SWEEP.id, signal);
  assert.deepEqual(
    new Map(found.map(({ id, state }) => [id, state])),
    new Map([[ended, 'failed'], ...running.map((id) => [id, 'succeeded'] as const)]),
  );
  assert.deepEqual([asked.length, jobs.get(notArrived)], [10, undefined]);
  const aborted = AbortSignal.abort(new Error('enough'));
  await assert.rejects(surveyJobs({ ledger: directLedger(jobs), service }, SWEEP.id, aborted), /^Error: enough$/);
});
