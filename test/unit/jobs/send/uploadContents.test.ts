import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ArchiveStore } from '../../../../src/jobs/archives/archives.ts';
import type { JobService } from '../../../../src/jobs/service/api.ts';
import { newRecord } from '../../../../src/jobs/ledger/record.ts';
import { Selections } from '../../../../src/jobs/selection/selections.ts';
import { wholeUploadReason } from '../../../../src/jobs/contents/wholeReason.ts';
import { uploadPacked } from '../../../../src/jobs/send/upload.ts';
import { RemoteError } from '../../../../src/remote/http/remoteErrors.ts';
import { tempHome } from '../fixtures.ts';

const ACCEPTED = { type: 'accepted', created: { job_id: 'job-1' } };
/** Takes archives, and no contents. */
const takeArchive: JobService['submitJob'] = async (_path, _job, options = {}) => {
  assert.equal(options.part, undefined);
  options.onProgress?.(1, 1);
  return { job_id: 'job-1' };
};

/** Uploads the archive of a folder to a service whose contents are answered by `post`. */
async function start(
  t: TestContext,
  post: () => Promise<Buffer>,
  signal?: AbortSignal,
  bytes = 100_000,
  submitJob: JobService['submitJob'] = () => assert.fail('no job was to be submitted'),
) {
  const home = tempHome(t);
  const store = new ArchiveStore(home);
  await store.prepare();
  const folder = join(home, 'project');
  mkdirSync(folder);
  writeFileSync(join(folder, 'data.bin'), randomBytes(bytes));
  const selections = new Selections();
  const { id } = await selections.select(folder, { isTrusted: false });
  const { archive, ...paths } = await store.packedFiles('j1');
  const packed = await selections.pack(id, archive, paths);
  const draft = newRecord({
    id: 'j1',
    host: 'https://gpu.example.org',
    state: 'sending',
    script: 'a.sh',
    maxRuntime: 60,
    folder,
    createdAt: new Date(0).toISOString(),
    archiveBytes: packed.bytes,
  });
  const service = {
    postContents: post,
    submitJob,
    getSubmission: async () => undefined,
  };
  const files = (): string[] => readdirSync(join(home, 'archives'));
  const progress: (readonly [done: number, total: number, sent: number])[] = [];
  /** Why the whole archive is sent. */
  const reasons: string[] = [];
  const upload = () =>
    uploadPacked(service, draft, home, {
      usesContents: true,
      signal,
      onPhase: (phase) => {
        if (phase.type === 'upload') progress.push([phase.doneBytes, phase.totalBytes, phase.sentBytes]);
        if (phase.type === 'whole') reasons.push(phase.reason);
      },
    });
  return { files, store, progress, reasons, bytes: packed.bytes, upload };
}

const STORED = ['j1.manifest.json', 'j1.segments.json', 'j1.tar.gz'];

test('an upload of contents that is stopped or refused is certainly no job, and leaves no file', async (t) => {
  const stop = new AbortController();
  const reason = new Error('stopped');
  const stopped = await start(
    t,
    async () => {
      stop.abort(reason);
      throw new Error('the connection was closed');
    },
    stop.signal,
  );
  assert.deepEqual(await stopped.upload(), { type: 'not-taken', error: reason });
  assert.deepEqual(stopped.files(), STORED);
  for (const status of [401, 402, 403, 429, 502, 503, 507]) {
    const refused = await start(t, () => Promise.reject(new RemoteError(status, `HTTP ${status}`)));
    assert.equal((await refused.upload()).type, 'not-taken', String(status));
  }
});

test('the archive is sent where it is small or has no segments, or the service has no room or another idea of contents', async (t) => {
  for (const status of [302, 400, 404, 405, 413, 415, 422, 500, 501]) {
    const refuse = () => Promise.reject(new RemoteError(status, `HTTP ${status}: no\u001b[2J room.`));
    const { upload, reasons, progress } = await start(t, refuse, undefined, 100_000, takeArchive);
    const reason = `The service did not accept only what changed (HTTP ${status}: no room), so the whole archive is sent.`;
    assert.deepEqual(await upload(), ACCEPTED);
    assert.deepEqual(reasons, [reason]);
    assert.deepEqual(
      progress.map(([, , sent]) => sent),
      [1],
    );
  }
  const long = await start(
    t,
    () => Promise.reject(new RemoteError(413, 'x'.repeat(5_000))),
    undefined,
    100_000,
    takeArchive,
  );
  assert.deepEqual(await long.upload(), ACCEPTED);
  assert.ok((long.reasons[0]?.length ?? 300) < 300);
  const small = await start(t, () => assert.fail('not asked'), undefined, 10_000, takeArchive);
  assert.deepEqual(await small.upload(), ACCEPTED);
  const old = await start(t, () => assert.fail('not asked'), undefined, 100_000, takeArchive);
  for (const damage of [() => '{"format":', () => JSON.stringify({ format: 1, segments: [] })]) {
    writeFileSync(old.store.segmentsPath('j1'), damage());
    assert.deepEqual(await old.upload(), ACCEPTED);
  }
  rmSync(old.store.segmentsPath('j1'));
  assert.deepEqual(await old.upload(), ACCEPTED);
  assert.deepEqual([small.reasons, old.reasons], [[], []]);
});

test('the reason names what failed: the connection, or a file here', () => {
  assert.match(wholeUploadReason(new RemoteError(500, 'HTTP 500')), /^The service did not accept/);
  assert.match(
    wholeUploadReason(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })),
    /^The connection broke/,
  );
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', path: '/h/x' });
  assert.match(wholeUploadReason(full), /^What changed could not be prepared on this machine \(ENOSPC/);
});

/** The service has all contents already. */
const HAS_ALL = async (): Promise<Buffer> => Buffer.alloc(2_048);

test('in place of an archive whose contents the service has, their names are sent', async (t) => {
  const sent: [part: unknown, bytes: number][] = [];
  const submitJob: JobService['submitJob'] = async (path, _job, options = {}) => {
    const { length } = readFileSync(path);
    sent.push([options.part, length % 32]);
    options.onProgress?.(length / 2, length);
    options.onProgress?.(length, length);
    return { job_id: 'job-1' };
  };
  const { upload, files, progress, bytes } = await start(t, HAS_ALL, undefined, 100_000, submitJob);
  assert.deepEqual(await upload(), { type: 'accepted', created: { job_id: 'job-1' } });
  assert.deepEqual(sent, [['contents', 0]]);
  assert.deepEqual(files(), STORED);
  const almost = Math.floor(0.99 * bytes);
  assert.deepEqual(
    progress.map(([done, total]) => [done, total]),
    [almost, almost, bytes].map((done) => [done, bytes]),
  );
  const counts = progress.map(([, , count]) => count);
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => a - b),
  );
  assert.ok((counts.at(-1) ?? 0) > (counts[0] ?? 0));
});

test('contents that the service lost meanwhile are sent again, three times at most', async (t) => {
  let requests = 0;
  const lacking: JobService['submitJob'] = async (path, job, options = {}) => {
    if (options.part !== 'contents') return takeArchive(path, job, options);
    requests += 1;
    throw new RemoteError(424, 'HTTP 424: lacking');
  };
  const lost = await start(t, HAS_ALL, undefined, 100_000, lacking);
  assert.deepEqual(await lost.upload(), ACCEPTED);
  assert.match(lost.reasons.join(), /\(HTTP 424: lacking\)/);
  assert.ok((lost.progress.at(-1)?.[2] ?? 0) > 1, 'the names that were sent in vain count');
  assert.equal(requests, 3);
  const again = await start(t, HAS_ALL, undefined, 100_000, async (path, job, options) => {
    if (requests < 4) return lacking(path, job, options);
    assert.equal(options?.part, 'contents');
    return { job_id: 'job-1' };
  });
  assert.deepEqual(await again.upload(), ACCEPTED);
  assert.deepEqual(again.reasons, []);
  const refused = await start(t, HAS_ALL, undefined, 100_000, () => {
    throw new RemoteError(402, 'HTTP 402: no credits');
  });
  assert.equal((await refused.upload()).type, 'not-taken');
});

test('an archive that is damaged is no job', async (t) => {
  const { store, upload } = await start(t, async () => Buffer.alloc(2_048, 0xff));
  const { archive } = await store.packedFiles('j1');
  const bytes = readFileSync(archive);
  writeFileSync(archive, bytes.fill(0xff));
  const end = await upload();
  assert.ok(end.type === 'not-taken' && end.error instanceof Error);
  assert.deepEqual(
    [end.error.name, end.error.message],
    [
      'DamagedArchive',
      'The files that were packed before are damaged on this disk. Submit the folder again with all files read again.',
    ],
  );
});
