import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ArchiveStore } from '../../../../src/jobs/archives/archives.ts';
import { newRecord } from '../../../../src/jobs/ledger/record.ts';
import { Selections } from '../../../../src/jobs/selection/selections.ts';
import { uploadContents } from '../../../../src/jobs/submit/uploadContents.ts';
import { RemoteError } from '../../../../src/remote/http/errors.ts';
import { tempHome } from '../fixtures.ts';

const SILENT = { onProgress: () => {}, onAsk: () => {} };

/** Uploads the archive of a folder to a service whose contents are answered by `post`. */
async function start(t: TestContext, post: () => Promise<Buffer>, signal?: AbortSignal, bytes = 100_000) {
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
    submitJob: () => assert.fail('no job was to be submitted'),
    getSubmission: async () => undefined,
  };
  const files = (): string[] => readdirSync(join(home, 'archives'));
  return { files, store, upload: () => uploadContents(service, draft, home, { ...SILENT, signal }) };
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
  const refused = await start(t, () => Promise.reject(new RemoteError(401, 'HTTP 401: invalid key')));
  assert.equal((await refused.upload())?.type, 'not-taken');
});

test('the archive is sent where it is small or has no segments, or the service has no room or another idea of contents', async (t) => {
  for (const status of [400, 404, 405, 413]) {
    const { upload } = await start(t, () => Promise.reject(new RemoteError(status, `HTTP ${status}`)));
    assert.equal(await upload(), undefined, String(status));
  }
  const small = await start(t, () => assert.fail('not asked'), undefined, 10_000);
  assert.equal(await small.upload(), undefined);
  const old = await start(t, () => assert.fail('not asked'));
  for (const damage of [() => '{"format":', () => JSON.stringify({ format: 1, segments: [] })]) {
    writeFileSync(old.store.segmentsPath('j1'), damage());
    assert.equal(await old.upload(), undefined);
  }
  rmSync(old.store.segmentsPath('j1'));
  assert.equal(await old.upload(), undefined);
});
