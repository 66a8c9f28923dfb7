import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ArchiveStore } from '../../../../src/jobs/archives/archives.ts';
import type { JobRecord } from '../../../../src/jobs/ledger/record.ts';
import type { JobService } from '../../../../src/jobs/service/api.ts';
import { uploadPacked } from '../../../../src/jobs/send/upload.ts';
import { RemoteError } from '../../../../src/remote/http/remoteErrors.ts';
import type { SubmissionStatus } from '../../../../src/remote/protocol/schemas.ts';
import { makeRecord, tempHome } from '../fixtures.ts';

const home = tempHome({ after });
const HOST = 'https://gpu.example.org';
const CREATED = { job_id: 'job-1' };
const LOST = new Error('the connection was closed');

interface Try {
  /** The bytes that leave before the end of the request, counted from the beginning of the archive. */
  readonly sent?: number;
  /** How it ends; accepted without one. */
  readonly error?: Error;
  /** The ID of the accepted job. */
  readonly id?: string;
  /** What the service then says that it has. */
  readonly has?: number | 'job' | 'unknown';
}

interface Setting extends Partial<JobRecord> {
  readonly isCancelled?: boolean;
}

/** Uploads an archive of 100 bytes, with an outcome for each request. */
async function upload(tries: readonly Try[], { isCancelled = false, ...fields }: Setting = {}) {
  const stop = new AbortController();
  const requests: (number | undefined)[] = [];
  const progress: (readonly [number, number, number])[] = [];
  let asked = 0;
  const draft = makeRecord({ host: HOST, archiveBytes: 100, jobId: null, ...fields });
  const jobs: unknown[] = [];
  const service: Pick<JobService, 'submitJob' | 'getSubmission'> = {
    submitJob: async (archive, job, options = {}) => {
      const { idempotencyKey, offset } = options;
      const path = new ArchiveStore(home).archivePath(draft.id);
      assert.deepEqual([archive, idempotencyKey, options.signal], [path, draft.id, stop.signal]);
      assert.equal(options.part, undefined);
      jobs.push(job);
      requests.push(offset);
      const { sent, error, id = CREATED.job_id } = tries[requests.length - 1] ?? assert.fail('one request too many');
      if (sent !== undefined) options.onProgress?.(sent, 100);
      if (isCancelled) stop.abort(new Error('stopped'));
      if (error !== undefined) throw error;
      return { job_id: id };
    },
    getSubmission: async () => {
      const { has = 'unknown' } = tries[requests.length - 1] ?? {};
      if (has === 'unknown') throw new RemoteError(404, 'HTTP 404');
      const status: SubmissionStatus =
        has === 'job' ? { state: 'accepted', ...CREATED } : { state: 'incomplete', received_bytes: has };
      return status;
    },
  };
  const end = await uploadPacked(service, draft, home, {
    usesContents: false,
    signal: stop.signal,
    onPhase: (phase) => {
      if (phase.type === 'upload') progress.push([phase.doneBytes, phase.totalBytes, phase.sentBytes]);
      if (phase.type === 'ask') asked += 1;
    },
  });
  return { end, requests, progress, asked, jobs };
}

const lost = (sent: number, has?: Try['has']): Try => ({ sent, error: LOST, ...(has !== undefined && { has }) });

test('a job whose ID is huge or not a plain name is refused before it is stored', async () => {
  for (const id of ['x'.repeat(3_000_000), 'a\u001b]52;c;eA==\u0007', 'a b', 'x;rm -rf ~', '$(id)', 'é', 'a\nb']) {
    const { end } = await upload([{ sent: 100, id }]);
    assert.equal(end.type, 'unknown');
    assert.ok(end.error instanceof Error);
    assert.match(
      end.error.message,
      /response of https:\/\/gpu\.example\.org does not say whether the job was accepted/,
    );
    const { cause } = end.error;
    assert.ok(cause instanceof RemoteError);
    assert.match(
      cause.message,
      /^HTTP 200: the service returned a job ID that cannot be used: it must be 1 to 256 letters/,
    );
    assert.ok(!cause.message.includes(id));
  }
  const id = 'a=~@+:1.b';
  assert.deepEqual((await upload([{ sent: 100, id }])).end, { type: 'accepted', created: { job_id: id } });
});

test('an upload continues where the service says that it was interrupted, and counts all that was sent', async () => {
  const { end, requests, progress, asked } = await upload([lost(50, 40), lost(80, 80), { sent: 100 }]);
  assert.deepEqual(end, { type: 'accepted', created: CREATED });
  assert.deepEqual(requests, [undefined, 40, 80]);
  assert.deepEqual(progress, [
    [50, 100, 50],
    [80, 100, 90],
    [100, 100, 110],
  ]);
  assert.equal(asked, 2);
});

test('a job whose response was lost is found', async () => {
  const { end, requests } = await upload([lost(100, 'job')]);
  assert.equal(end.type === 'accepted' && end.created.job_id, 'job-1');
  assert.equal(requests.length, 1);
});

test('an upload without progress is continued three times, and one with progress continues', async () => {
  const stuck = await upload([lost(10, 0), lost(10, 0), lost(10, 0), lost(10, 0)]);
  assert.equal(stuck.end.type, 'unknown');
  assert.equal(stuck.requests.length, 4);
  const slow = await upload([10, 10, 10, 10, 20, 20, 20, 20].map((has) => lost(30, has)));
  assert.equal(slow.end.type, 'unknown');
  assert.deepEqual(slow.requests, [undefined, 10, 10, 10, 10, 20, 20, 20].slice(0, slow.requests.length));
});

test('a request that the service refused, or that never left, is no job and is not asked about', async () => {
  const refused = new Error('connect ECONNREFUSED');
  for (const error of [new RemoteError(402, 'HTTP 402'), Object.assign(refused, { code: 'ECONNREFUSED' })]) {
    const { end, asked } = await upload([{ error }]);
    assert.deepEqual(end, { type: 'not-taken', error });
    assert.equal(asked, 0);
  }
  // Once something was sent, a refused connection says nothing about it.
  const later = await upload([lost(50, 40), { error: refused, has: 'unknown' }]);
  assert.equal(later.end.type, 'unknown');
});

test('a conflict with another request of this key is asked about, and a refusal if the service does not say', async () => {
  const conflict = new RemoteError(409, 'HTTP 409');
  const { end, asked } = await upload([{ sent: 100, error: conflict, has: 'unknown' }]);
  assert.deepEqual([end, asked], [{ type: 'not-taken', error: conflict }, 1]);
  const taken = await upload([{ sent: 100, error: conflict, has: 'job' }]);
  assert.equal(taken.end.type, 'accepted');
});

test('where nobody says what became of it, the error has how much was sent', async () => {
  const unknown = async (sent: number, isCancelled = false) => {
    const { end } = await upload([lost(sent, 'unknown')], { isCancelled });
    assert.ok(end.type === 'unknown' && end.error instanceof Error);
    return end.error.message;
  };
  assert.equal(
    await unknown(50),
    `The connection to ${HOST} was lost before it responded. 50 % of the files were sent, so the job most likely does not exist. Check with the service before you send it again.`,
  );
  assert.match(await unknown(100), /responded\. All files were sent, so the job may be running\./);
  assert.match(await unknown(100, true), /^You stopped before https:\S+ responded\. All files were sent/);
});

test('a cancelled upload is no job unless all of it was sent', async () => {
  const stopped = await upload([lost(99)], { isCancelled: true });
  assert.equal(stopped.end.type, 'not-taken');
  assert.match(String(stopped.end.type === 'not-taken' && stopped.end.error), /stopped/);
  assert.equal(stopped.asked, 0);
  const complete = await upload([lost(100, 30)], { isCancelled: true });
  assert.match(String(complete.end.type === 'not-taken' && complete.end.error), /stopped/);
  assert.equal(complete.asked, 1);
  assert.equal((await upload([lost(100, 'job')], { isCancelled: true })).end.type, 'accepted');
});

test('a job is sent with what its draft has, and nothing else', async () => {
  const terms = { script: 'a.py', maxRuntime: 60 };
  const little = await upload([{ sent: 100 }], { ...terms, machineClass: null });
  assert.deepEqual(little.jobs, [terms]);
  const all = {
    ...terms,
    project: 'p',
    venv: { python: '3.12' },
    machineClass: 'gpu',
    secrets: ['A'],
    volumes: ['data'],
    cluster: { qos: 'long' },
  };
  const full = await upload([{ sent: 100 }], all);
  assert.deepEqual(full.jobs, [all]);
});
