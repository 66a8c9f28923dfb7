import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportNotArrived } from '../../../../src/extension/submit/interrupted.ts';
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
  const shown: unknown[] = [];
  const offering = {
    folders: () => [record.folder],
    show: async (...texts: string[]) => {
      shown.push(texts);
      return texts[1];
    },
    run: async (...call: unknown[]) => void shown.push(call),
  };
  const reported = Promise.withResolvers<void>();
  const settling = keepSettling(
    {
      hosts,
      ledger: directLedger(ledger),
      log,
      mayBeUnanswered: () => true,
      onNotArrived: (failed) => reported.resolve(reportNotArrived(failed, offering)),
    },
    stop.signal,
    20,
  );
  ledger.insert(record); // by a process that holds no lease any more
  // The timers of the loop keep no process alive, as in the window.
  const alive = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(alive));
  assert.equal(await asked.promise, record.id);
  await reported.promise;
  stop.abort();
  await settling;
  assert.equal(ledger.get(record.id)?.state, 'failed');
  const sentence = `${record.script}: The upload was not completed, so the job service on this machine has no job and charges nothing. Submit it again.`;
  assert.deepEqual(shown, [
    [sentence, 'Submit Again'],
    ['farwharf.resubmitJob', record.id],
  ]);
  await reportNotArrived(record, { ...offering, folders: () => ['/another'] });
  assert.equal(shown.length, 2, 'a window of another folder says nothing');
});
