import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepSettling } from '../../../../src/extension/submit/unanswered.ts';
import { directLedger } from '../../../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { makeRecord, tempHome } from '../../jobs/fixtures.ts';

test('an upload that another process leaves unfinished is settled while the window is open', async (t) => {
  const ledger = new JobLedger(tempHome(t));
  t.after(() => ledger.dispose());
  const record = makeRecord({ state: 'sending', jobId: null, createdAt: new Date().toISOString() });
  const stop = new AbortController();
  t.after(() => stop.abort());
  const asked = Promise.withResolvers<string>();
  const service = {
    getSubmission: async (key: string) => {
      asked.resolve(key);
      return { state: 'incomplete' as const, received_bytes: 0 };
    },
  };
  const hosts = { isSignedOut: async () => false, service: () => service };
  const log = { info: () => {} };
  const settling = keepSettling(
    { hosts, ledger: directLedger(ledger), log, mayBeUnanswered: () => true },
    stop.signal,
    20,
  );
  ledger.insert(record); // by a process that holds no lease any more
  // The timers of the loop keep no process alive, as in the window.
  const alive = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(alive));
  assert.equal(await asked.promise, record.id);
  stop.abort();
  await settling;
  assert.equal(ledger.get(record.id)?.state, 'failed');
});
