import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { newRecord } from '../../../../src/jobs/ledger/record.ts';
import { uploadContents } from '../../../../src/jobs/submit/uploadContents.ts';
import { RemoteError } from '../../../../src/remote/http/errors.ts';
import { tempHome } from '../fixtures.ts';

const SILENT = { onProgress: () => {}, onAsk: () => {} };

/** Uploads an archive to a service whose contents are answered by `post`. */
function start(t: TestContext, post: () => Promise<Buffer>, signal?: AbortSignal, bytes = 100_000) {
  const home = tempHome(t);
  mkdirSync(join(home, 'archives'));
  const archive = join(home, 'archives', 'j1.tar.gz');
  writeFileSync(archive, gzipSync(randomBytes(bytes)));
  const draft = newRecord({
    id: 'j1',
    host: 'https://gpu.example.org',
    state: 'sending',
    script: 'a.sh',
    maxRuntime: 60,
    folder: home,
    createdAt: new Date(0).toISOString(),
    archiveBytes: bytes,
  });
  const service = {
    postContents: post,
    submitJob: () => assert.fail('no job was to be submitted'),
    getSubmission: async () => undefined,
  };
  const files = (): string[] => readdirSync(join(home, 'archives'));
  return { files, end: uploadContents(service, draft, { archive, home }, { ...SILENT, signal }) };
}

test('an upload of contents that is stopped or refused is certainly no job, and leaves no file', async (t) => {
  const stop = new AbortController();
  const reason = new Error('stopped');
  const stopped = start(
    t,
    async () => {
      stop.abort(reason);
      throw new Error('the connection was closed');
    },
    stop.signal,
  );
  assert.deepEqual(await stopped.end, { type: 'not-taken', error: reason });
  assert.deepEqual(stopped.files(), ['j1.tar.gz']);
  const refused = start(t, () => Promise.reject(new RemoteError(401, 'HTTP 401: invalid key')));
  assert.equal((await refused.end)?.type, 'not-taken');
  const already = start(t, () => assert.fail('nothing was to be sent'), AbortSignal.abort());
  assert.equal((await already.end)?.type, 'not-taken');
});

test('the archive is sent where it is small, or the service has no room or another idea of contents', async (t) => {
  for (const status of [400, 404, 405, 413]) {
    const { end } = start(t, () => Promise.reject(new RemoteError(status, `HTTP ${status}`)));
    assert.equal(await end, undefined, String(status));
  }
  assert.equal(await start(t, () => assert.fail('not asked'), undefined, 10_000).end, undefined);
});
