import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { batchEntry, nameOfPiece } from '../../src/remote/protocol/contents.ts';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { type BuiltRecord, environmentPaths, environmentsIn } from '../../src/service/folders/environmentFolder.ts';
import { KeptEnvironments } from '../../src/service/folders/keptEnvironments.ts';
import { addAccount } from './support/accounts.ts';
import { makeArchive } from './support/archive.ts';
import { type ServiceClient, startService, testConfig } from './support/service.ts';
import { PageClient } from './support/servicePage.ts';

/** What distinguishes requests that are otherwise the same. */
const OWN_HEADERS = ['date', 'x-request-id'];
const NO_SUCH_JOB = '00000000000000000000';
const UNTIL_CANCELLED = 'sleep 600';
const META = JSON.stringify({ script: 'a.sh', max_runtime: 60 });

/** An answer, all of it. */
async function answer(client: ServiceClient, method: string, path: string, headers: Record<string, string> = {}) {
  const response = await client.request(path, { method, headers });
  const kept = [...response.headers].filter(([name]) => !OWN_HEADERS.includes(name));
  return { status: response.status, headers: kept, body: await response.text() };
}

interface Setting {
  readonly method: string;
  readonly path: string;
  /** Whose jobs are to stay hidden. */
  readonly owner: ServiceClient;
  readonly stranger: ServiceClient;
  /** The owner's jobs, in all the states that have answers of their own. */
  readonly jobs: readonly string[];
}

/** Another account's job is answered for as one that never was, to the byte. */
async function hidesJobs({ method, path, stranger, jobs }: Setting): Promise<void> {
  const none = await answer(stranger, method, path.replace(':id', NO_SUCH_JOB));
  assert.equal(none.status, 404);
  for (const job of jobs) {
    assert.deepEqual(await answer(stranger, method, path.replace(':id', job)), none);
    const encoded = job.replace(/^./, (first) => `%${first.charCodeAt(0).toString(16)}`);
    assert.deepEqual(await answer(stranger, method, path.replace(':id', encoded)), none);
  }
}

/** The response contains nothing of the owner's, for every other account. */
async function tellsNothing({ method, path, owner, stranger, jobs }: Setting): Promise<void> {
  for (const client of [stranger, stranger.withKey('')]) {
    const { body } = await answer(client, method, path);
    for (const secret of [...jobs, 'ada', owner.key]) assert.ok(!body.includes(secret), `${path} reveals ${secret}`);
  }
}

/** What the owner has sent is lacking for every other account, like what nobody has sent. */
async function hidesContents({ owner, stranger }: Setting): Promise<void> {
  const list = Buffer.alloc(0);
  const name = nameOfPiece(list);
  const post = async (client: ServiceClient, path: string, body: Buffer) => {
    const response = await client.request(`/v1/contents/${path}`, { method: 'POST', body: Buffer.from(body) });
    return [response.status, Buffer.from(await response.arrayBuffer()).toString('hex')];
  };
  const batch = Buffer.concat(batchEntry(name, zstdCompressSync(list)));
  assert.deepEqual(await post(owner, 'pieces', batch), [200, '']);
  for (const path of ['lacking', 'lacking-lists']) {
    assert.deepEqual(await post(owner, path, name), [200, '00']);
    assert.deepEqual(await post(stranger, path, name), [200, '01']);
    assert.deepEqual(await post(stranger, path, Buffer.alloc(32)), [200, '01']);
  }
}

/** A secret of the owner is neither listed, changed nor removed by another account, and answered for as one that never was. */
async function hidesSecrets({ owner, stranger }: Setting): Promise<void> {
  const path = '/v1/secrets/ADAS_TOKEN';
  const init = { method: 'PUT', body: JSON.stringify({ value: 'of the owner' }) };
  assert.equal((await owner.request(path, init)).status, 200);
  const listed = await owner.json('/v1/secrets');
  const none = await answer(stranger, 'DELETE', '/v1/secrets/BOBS_TOKEN');
  assert.equal(none.status, 404);
  const own = await answer(stranger, 'DELETE', path);
  assert.equal(own.body.replace('ADAS', 'BOBS'), none.body);
  assert.equal((await answer(stranger, 'GET', '/v1/secrets')).body, '{"secrets":[]}');
  assert.equal((await stranger.request(path, init)).status, 200);
  assert.equal((await answer(stranger, 'DELETE', path)).status, 200);
  assert.deepEqual(await owner.json('/v1/secrets'), listed);
}

/** On the page, a session of another account sees the owner's job as one that never was. */
async function hidesOnPage({ path, stranger, jobs }: Setting): Promise<void> {
  const browser = new PageClient(stranger);
  await browser.signIn(stranger.key);
  const look = async (job: string) => {
    const response = await browser.get(path === '/' ? `/?before=${job}` : path.replace(':id', job));
    return [response.status, await response.text()];
  };
  const none = await look(NO_SUCH_JOB);
  assert.equal(none[0], 404);
  for (const job of jobs) assert.deepEqual(await look(job), none);
}

/** What jobs of the owner built is listed for no other account. */
async function hidesEnvironments({ owner, stranger }: Setting): Promise<void> {
  const account = join(environmentsIn(owner.data), new KeptEnvironments(owner.data, 1e9).nameOf('ada') ?? '');
  const { folder, built, lastUse } = environmentPaths(account, '0'.repeat(64));
  const record: BuiltRecord = {
    jobId: 'j',
    tool: 'pip',
    name: 'requirements.txt',
    contents: '',
    builtAt: 0,
    seconds: 1,
    bytes: 1,
  };
  await mkdir(folder, { recursive: true });
  await writeFile(lastUse, '');
  await writeFile(built, JSON.stringify(record));
  assert.equal((await owner.json<{ environments: unknown[] }>('/v1/environments')).environments.length, 1);
  assert.equal((await answer(stranger, 'GET', '/v1/environments')).body, '{"environments":[]}');
}

/** Every route has its case: one that is new has none, and this test fails until it does. */
const CASES: Readonly<Record<string, (setting: Setting) => Promise<void>>> = {
  'GET /v1/jobs/:id': hidesJobs,
  'DELETE /v1/jobs/:id': hidesJobs,
  'GET /v1/jobs/:id/events': async (setting) => {
    await hidesJobs(setting);
    const ask = (job: string) =>
      answer(setting.stranger, 'GET', setting.path.replace(':id', job), { 'last-event-id': '1' });
    for (const job of setting.jobs) assert.deepEqual(await ask(job), await ask(NO_SUCH_JOB));
  },
  'GET /v1/jobs/:id/connect': hidesJobs,
  'POST /v1/jobs/:id/freeze': hidesJobs,
  'DELETE /v1/jobs/:id/freeze': hidesJobs,
  'GET /v1/jobs/:id/artifacts': hidesJobs,
  'GET /v1/jobs/:id/artifacts/contents': hidesJobs,
  'POST /v1/jobs/:id/artifacts/contents': hidesJobs,
  'GET /v1/environments': hidesEnvironments,
  'GET /v1/jobs': async ({ stranger, owner, jobs }) => {
    const own = await stranger.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
    const listed = await stranger.json<{ jobs: { job_id: string }[] }>('/v1/jobs?limit=500');
    assert.deepEqual(
      listed.jobs.map(({ job_id: id }) => id),
      [own],
    );
    const none = await answer(stranger, 'GET', `/v1/jobs?before=${NO_SUCH_JOB}`);
    assert.equal(none.status, 404);
    for (const job of jobs) assert.deepEqual(await answer(stranger, 'GET', `/v1/jobs?before=${job}`), none);
    const ofOwner = await owner.json<{ jobs: { job_id: string }[] }>('/v1/jobs');
    assert.deepEqual(
      ofOwner.jobs.map(({ job_id: id }) => id),
      jobs.toReversed(),
    );
    await stranger.untilEnd(own);
  },
  'POST /v1/jobs': async ({ owner, stranger }) => {
    const before = await owner.credits();
    const own = await stranger.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
    assert.equal((await answer(owner, 'GET', `/v1/jobs/${own}`)).status, 404);
    assert.equal(await owner.credits(), before);
    await stranger.untilEnd(own);
  },
  'GET /v1/submissions/:key': async ({ owner, stranger, path }) => {
    const headers = { 'idempotency-key': 'one-key' };
    const archive = await makeArchive({ 'a.sh': 'true' });
    const none = await answer(stranger, 'GET', path.replace(':key', 'one-key'));
    const job = (await (await owner.upload(archive, META, headers)).json()) as { job_id: string };
    assert.deepEqual(await answer(stranger, 'GET', path.replace(':key', 'one-key')), none);
    const own = (await (await stranger.upload(archive, META, headers)).json()) as { job_id: string };
    assert.notEqual(own.job_id, job.job_id, 'a key is one of its account');
    await Promise.all([owner.untilEnd(job.job_id), stranger.untilEnd(own.job_id)]);
  },
  'POST /v1/contents/lacking': hidesContents,
  'POST /v1/contents/lacking-lists': hidesContents,
  'POST /v1/contents/pieces': hidesContents,
  'GET /v1/secrets': hidesSecrets,
  'PUT /v1/secrets/:name': hidesSecrets,
  'DELETE /v1/secrets/:name': hidesSecrets,
  'GET /v1/me': async (setting) => {
    await tellsNothing(setting);
    const me = await setting.stranger.json('/v1/me');
    assert.equal(me['account_id'], 'bob');
  },
  'GET /': hidesOnPage,
  'GET /jobs/:id': hidesOnPage,
  'GET /operator': tellsNothing,
  'POST /sign-in': tellsNothing,
  'POST /operator': tellsNothing,
  'POST /sign-out': tellsNothing,
  'GET /healthz': tellsNothing,
  'GET /metrics': tellsNothing,
  'GET /openapi.json': tellsNothing,
  'GET /.well-known/oauth-protected-resource': tellsNothing,
};

test('an account neither reads, lists, cancels, streams nor downloads what is of another, nor learns that it is there', async (t) => {
  const service = await startService(t);
  const { client: owner } = await addAccount(service, 'ada');
  const { client: stranger } = await addAccount(service, 'bob');
  const ended = await owner.submit({ 'a.sh': 'echo done > out.txt' }, { script: 'a.sh' });
  await owner.untilEnd(ended);
  const running = await owner.submit({ 'a.sh': UNTIL_CANCELLED }, { script: 'a.sh' });
  await owner.untilRunning(running);

  // A route of several handlers is there once for each.
  const routes = new Map(service.routes.map((route) => [`${route.method} ${route.path}`, route]));
  for (const { method, path } of routes.values()) {
    await t.test(`${method} ${path}`, async () => {
      const check = CASES[`${method} ${path}`];
      assert.ok(check, 'this route has no case: say in CASES what it must hide');
      await check({ method, path, owner, stranger, jobs: [ended, running] });
    });
  }
  await t.test('and it changed nothing', async () => {
    assert.equal((await owner.job(running)).state, 'running');
    assert.ok((await owner.request(`/v1/jobs/${ended}/artifacts`)).ok);
  });
});

test('a revoked key opens no route', async (t) => {
  // There are more routes than a client may try a wrong key in a minute.
  const config = testConfig();
  const limits = { ...config.limits, wrong_keys_per_minute: 1_000 };
  const service = await startService(t, { config: { ...config, limits } });
  const { client, keyId } = await addAccount(service, 'ada');
  const job = await client.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  await client.untilEnd(job);
  using admin = await openAdmin(service.data, { mayCreate: false });
  await admin.call('keys.revoke', { key_id: keyId });
  const routes = service.routes.filter(({ path }) => path.startsWith('/v1/'));
  assert.ok(routes.length > 0);
  for (const { method, path } of routes) {
    const { status, body } = await answer(client, method, path.replace(':id', job));
    assert.equal(status, 401, path);
    assert.match(body, /was revoked/);
  }
});

test('the key of the service itself sees the jobs of its own account alone', async (t) => {
  const service = await startService(t);
  const { client: ada } = await addAccount(service, 'ada');
  const job = await ada.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  assert.equal((await service.request(`/v1/jobs/${job}`)).status, 404);
  await ada.untilEnd(job);
});
