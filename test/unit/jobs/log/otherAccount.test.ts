import assert from 'node:assert/strict';
import { test } from 'node:test';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { refreshJob } from '../../../../src/jobs/log/refreshJob.ts';
import { makeRecord, tempHome } from '../fixtures.ts';

/** A service that has no such job, asked with a key of an account. */
function serviceOf(account: { readonly account_id?: string }) {
  return {
    me: async () => account,
    getJob: async () => {
      throw Object.assign(new Error('This job does not exist.'), { status: 404 });
    },
  };
}

const HOST = 'https://gpu.example.org';
const CASES = [
  { what: 'the account that sent it', sentBy: 'ada', asking: { account_id: 'ada' }, state: 'lost' },
  { what: 'another account', sentBy: 'ada', asking: { account_id: 'ben' }, state: 'running' },
  { what: 'an account, and nobody knows who sent it', sentBy: null, asking: { account_id: 'ben' }, state: 'running' },
  { what: 'a service without accounts', sentBy: null, asking: {}, state: 'lost' },
];

for (const { what, sentBy, asking, state } of CASES) {
  test(`a running job that does not exist for ${what} is ${state} then`, async (t) => {
    const jobs = new JobLedger(tempHome(t));
    t.after(() => jobs.dispose());
    const record = makeRecord({ host: HOST, account: sentBy, state: 'running', jobId: 'job-1' });
    jobs.insert(record);
    const refreshed = await refreshJob({ ledger: directLedger(jobs), service: serviceOf(asking) }, record);
    assert.deepEqual([refreshed.state, jobs.get(record.id)?.state], [state, state]);
  });
}
