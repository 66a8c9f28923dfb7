import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { acceptedPatch, askOutcome, settleEarlier } from '../../../../src/jobs/send/settle.ts';
import { RemoteError } from '../../../../src/remote/http/remoteErrors.ts';
import type { SubmissionStatus } from '../../../../src/remote/protocol/schemas.ts';
import { makeRecord, tempHome } from '../fixtures.ts';

const CREATED = Date.UTC(2026, 0, 1);
const DAY_MS = 24 * 3_600_000;

/** The record of a submission whose outcome was unknown, after its service was asked. */
async function settle(t: TestContext, answer: () => SubmissionStatus | undefined, afterMs = 1_000) {
  const jobs = new JobLedger(tempHome(t));
  t.after(() => jobs.dispose());
  const createdAt = new Date(CREATED).toISOString();
  const record = makeRecord({ state: 'unknown', jobId: null, account: 'ada', createdAt, creditHold: null });
  jobs.insert(record);
  const service = { getSubmission: async () => answer() };
  const settled = await settleEarlier({ service, ledger: directLedger(jobs) }, record, { now: CREATED + afterMs });
  assert.deepEqual(jobs.get(record.id), settled);
  return settled;
}

test('a submission that arrived is a job, and one that did not has failed', async (t) => {
  const accepted = { account_id: 'ada', state: 'accepted', job_id: 'job-7', credit_hold: 2 } as const;
  const { state, jobId, creditHold } = await settle(t, () => accepted);
  assert.deepEqual([state, jobId, creditHold], ['queued', 'job-7', 2]);
  const incomplete = { account_id: 'ada', state: 'incomplete', received_bytes: 5 } as const;
  const failed = await settle(t, () => incomplete, DAY_MS);
  assert.deepEqual([failed.state, failed.finishedAt], ['failed', new Date(CREATED + DAY_MS).toISOString()]);
  assert.match(failed.reason ?? '', /was not completed, so .+ has no job and charges nothing\. Submit it again\.$/);
});

test('a submission stays unknown where the service does not know it, any longer, or belongs to another account', async (t) => {
  const incomplete = { account_id: 'ada', state: 'incomplete', received_bytes: 5 } as const;
  const answers: readonly [() => SubmissionStatus | undefined, number][] = [
    [() => undefined, 0],
    [() => incomplete, DAY_MS + 1],
    [() => ({ ...incomplete, account_id: 'bob' }), 0],
    [
      () => {
        throw new RemoteError(503, 'HTTP 503');
      },
      0,
    ],
  ];
  for (const [answer, afterMs] of answers) assert.equal((await settle(t, answer, afterMs)).state, 'unknown');
});

test('a service is asked again while it checks, and after a failure that may pass, until the waits are used up', async () => {
  const status = (state: 'checking' | 'accepted') => ({ account_id: 'ada', state, job_id: 'j' }) as SubmissionStatus;
  const ask = async (answers: readonly (SubmissionStatus | Error | undefined)[], signal?: AbortSignal) => {
    const asked: string[] = [];
    const service = {
      getSubmission: async (id: string) => {
        asked.push(id);
        const answer = answers[asked.length - 1];
        if (answer instanceof Error) throw answer;
        return answer;
      },
    };
    const { type } = await askOutcome(
      service,
      { id: 'k', account: 'ada' },
      { backoff: { firstMs: 1, retries: 2 }, signal },
    );
    return [type, asked.length];
  };
  const passing = [new RemoteError(503, ''), new RemoteError(429, ''), new Error('reset')];
  assert.deepEqual(await ask([passing[0], passing[1], status('accepted')]), ['accepted', 3]);
  assert.deepEqual(await ask([passing[2], passing[0], passing[1], status('accepted')]), ['unknown', 3]);
  for (const code of [400, 401, 404, 499])
    assert.deepEqual(await ask([new RemoteError(code, ''), status('accepted')]), ['unknown', 1]);
  assert.deepEqual(await ask([undefined, status('accepted')]), ['unknown', 1]);
  assert.deepEqual(await ask([passing[0], status('accepted')], AbortSignal.abort()), ['unknown', 1]);
});

test('an account that the service or the record does not state may be any', async () => {
  const ask = async (own: string | null, theirs: string | undefined) => {
    const answer = {
      state: 'accepted',
      job_id: 'j',
      ...(theirs !== undefined && { account_id: theirs }),
    } as SubmissionStatus;
    return (await askOutcome({ getSubmission: async () => answer }, { id: 'k', account: own })).type;
  };
  assert.deepEqual(
    [
      await ask(null, 'ada'),
      await ask('ada', undefined),
      await ask(null, undefined),
      await ask('ada', 'ada'),
      await ask('ada', 'bob'),
    ],
    ['accepted', 'accepted', 'accepted', 'accepted', 'unknown'],
  );
});

test('an accepted job is queued, with what the service holds', () => {
  const patch = { jobId: 'j', state: 'queued', reason: null, finishedAt: null };
  assert.deepEqual(acceptedPatch({ job_id: 'j', credit_hold: 2 }), { ...patch, creditHold: 2 });
  assert.deepEqual(acceptedPatch({ job_id: 'j' }), { ...patch, creditHold: null });
});
