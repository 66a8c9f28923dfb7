import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, statSync, utimesSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Selections } from '../../src/jobs/selection/selections.ts';
import { directLedger } from '../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../src/jobs/ledger/ledger.ts';
import { settleEarlier } from '../../src/jobs/send/settle.ts';
import { planSubmit } from '../../src/jobs/plan/plan.ts';
import { sendPlan } from '../../src/jobs/send/pack.ts';
import { RemoteClient } from '../../src/remote/client.ts';
import type { ServiceConfig } from '../../src/service/serviceConfig.ts';
import { DEFAULT_PROXY } from '../../src/service/config/configSections.ts';
import { until } from './commandLine.ts';
import { makeArchive } from './support/archive.ts';
import type { Fault } from './support/faultyLine.ts';
import { FaultyProxy } from './support/faultyProxy.ts';
import { type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

const META = JSON.stringify({ script: 'a.sh', max_runtime: 600 });
const HOLD = 1;

/** The connection ends when so much of a submission was sent. */
function cutAfter(after: Fault['after'], onStrike = async (): Promise<void> => {}): Fault {
  return { type: 'truncate', side: 'request', after, isPost: true, onStrike };
}

/** As soon as an answer comes, of which the client gets nothing. */
const LOST_ANSWER: Fault = { type: 'truncate', side: 'response', after: 0, isPost: true };

interface Answer {
  readonly status: number;
  readonly body: { readonly job_id?: string; readonly detail?: string; readonly received_bytes?: number };
}

/** A submission as it goes over the wire, so that it can be sent in any shape. */
async function post(
  service: ServiceClient,
  {
    archive,
    meta = META,
    headers,
  }: { archive: Uint8Array<ArrayBuffer>; meta?: string; headers: Record<string, string> },
): Promise<Answer> {
  const response = await service.upload(archive, meta, headers);
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** A service that is reached over a line, which breaks, rather than directly. */
function configOf(uploadGb = 1): ServiceConfig {
  const config = testConfig();
  return { ...config, proxy: DEFAULT_PROXY, limits: { ...config.limits, upload_gb: uploadGb } };
}

function start(t: TestContext, uploadGb?: number): Promise<ServiceClient> {
  return startService(t, { config: configOf(uploadGb) });
}

function jobsOf(service: ServiceClient): Promise<{ jobs: { job_id: string }[] }> {
  return service.json('/v1/jobs');
}

test('a submission that is sent again under its key is answered the same way and is one job', async (t) => {
  const service = await start(t);
  const archive = await makeArchive({ 'a.sh': 'sleep 600' });
  const key = randomUUID();
  const before = await service.json(`/v1/submissions/${key}`);
  assert.deepEqual(before, { state: 'incomplete', account_id: 'local', received_bytes: 0 });
  const first = await post(service, { archive, headers: { 'idempotency-key': `"${key}"` } });
  const again = await post(service, { archive, headers: { 'idempotency-key': key } });
  assert.equal(first.status, 201);
  assert.deepEqual(again, first);
  const known = await service.json(`/v1/submissions/${key}`);
  assert.deepEqual(known, { ...first.body, state: 'accepted', account_id: 'local' });
  assert.equal((await jobsOf(service)).jobs.length, 1);
  assert.equal(await service.credits(), 1000 - HOLD);
  assert.deepEqual(readdirSync(join(service.data, 'uploads')), []);
});

test('another submission under the same key is refused', async (t) => {
  const service = await start(t);
  const archive = await makeArchive({ 'a.sh': 'true' });
  const headers = { 'idempotency-key': randomUUID() };
  assert.equal((await post(service, { archive, headers })).status, 201);
  const meta = JSON.stringify({ script: 'a.sh', max_runtime: 601 });
  for (const other of [{ archive, meta }, { archive: await makeArchive({ 'a.sh': 'false' }) }]) {
    const { status, body } = await post(service, { ...other, headers });
    assert.equal(status, 422);
    assert.match(body.detail ?? '', /another submission had this key/);
  }
  assert.equal((await jobsOf(service)).jobs.length, 1);
});

test('keys and offsets that are none are refused', async (t) => {
  const service = await start(t);
  const archive = await makeArchive({ 'a.sh': 'true' });
  const wrong: readonly Record<string, string>[] = [
    { 'idempotency-key': '' },
    { 'idempotency-key': 'x'.repeat(256) },
    { 'upload-offset': '0' },
    { 'idempotency-key': 'x', 'upload-offset': '-1' },
  ];
  for (const headers of wrong) {
    assert.equal((await post(service, { archive, headers })).status, 400, JSON.stringify(headers));
  }
  assert.equal((await jobsOf(service)).jobs.length, 0);
});

test('twenty concurrent requests with one key create one job and one hold', async (t) => {
  const service = await start(t);
  const archive = await makeArchive({ 'a.sh': 'sleep 600', noise: randomBytes(300_000) });
  const headers = { 'idempotency-key': randomUUID() };
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(service, { archive, headers })));
  const accepted = answers.filter(({ status }) => status === 201);
  assert.ok(accepted.length >= 1);
  assert.equal(new Set(accepted.map(({ body }) => body.job_id)).size, 1);
  for (const { status } of answers) assert.ok([201, 409, 429].includes(status), String(status));
  assert.equal((await jobsOf(service)).jobs.length, 1);
  assert.equal(await service.credits(), 1000 - HOLD);
  assert.deepEqual(await post(service, { archive, headers }), accepted[0]);
});

test('what was refused can be sent again under its key when it is right', async (t) => {
  const service = await start(t);
  const headers = { 'idempotency-key': randomUUID() };
  const wrong = await post(service, { archive: new Uint8Array([1, 2, 3]), headers });
  assert.equal(wrong.status, 400);
  const right = await post(service, { archive: await makeArchive({ 'a.sh': 'true' }), headers });
  assert.equal(right.status, 201);
});

test('an upload continues where it was interrupted and nowhere else, and pieces that do not fit are no job', async (t) => {
  const service = await start(t);
  const archive = await makeArchive({ 'a.sh': 'true', noise: randomBytes(400_000) });
  const key = randomUUID();
  await breakOff(t, service, { archive, key, bytes: 200_000 });
  const { received_bytes: received = 0 } = await service.json<Answer['body']>(`/v1/submissions/${key}`);
  assert.ok(received > 50_000 && received < 300_000, String(received));
  const go = (piece: Uint8Array<ArrayBuffer>, offset: number): Promise<Answer> =>
    post(service, { archive: piece, headers: { 'idempotency-key': key, 'upload-offset': String(offset) } });
  const misplaced = await go(archive.slice(received + 1), received + 1);
  assert.equal(misplaced.status, 409);
  assert.match(misplaced.body.detail ?? '', new RegExp(`the service has ${received} bytes of the archive`));
  const foreign = await go(archive.slice(0, 1000), received);
  assert.equal(foreign.status, 409);
  assert.match(foreign.body.detail ?? '', /do not fit together/);
  assert.equal((await go(archive, 0)).status, 201);
  assert.equal((await go(archive.slice(received), received)).status, 201);
  assert.equal((await jobsOf(service)).jobs.length, 1);
});

test('what is kept of uploads stays within the limit of one, and goes after a day', async (t) => {
  const service = await start(t, 0.0005);
  const archive = await makeArchive({ 'a.sh': 'true', noise: randomBytes(400_000) });
  const keys = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  for (const key of keys) await breakOff(t, service, { archive, key, bytes: 150_000 });
  const uploads = join(service.data, 'uploads');
  assert.equal(readdirSync(uploads).length, 1, 'the others would not fit beside a whole one');
  const long = new Date(Date.now() - 25 * 3_600_000);
  for (const name of readdirSync(uploads)) utimesSync(join(uploads, name), long, long);
  await service.stop();
  // Its disk is said to be full, so that no submission comes: what is old goes by itself, and makes room.
  const config = { ...configOf(), retention: { min_free_gb: 1e9 } };
  await startService(t, { data: service.data, config });
  await until(() => readdirSync(uploads).length === 0);
});

test('what is kept of uploads that break off together stays within the limit of one', async (t) => {
  const service = await start(t, 0.0005);
  const archive = await makeArchive({ 'a.sh': 'true', noise: randomBytes(400_000) });
  await Promise.all([1, 2, 3].map(() => breakOff(t, service, { archive, key: randomUUID(), bytes: 300_000 })));
  const uploads = join(service.data, 'uploads');
  const total = (): number => readdirSync(uploads).reduce((sum, name) => sum + statSync(join(uploads, name)).size, 0);
  await until(() => total() <= 500_000);
  assert.ok(total() > 0);
});

/** Sends the first bytes of a submission and drops the connection. */
async function breakOff(
  t: TestContext,
  service: ServiceClient,
  { archive, key, bytes }: { archive: Uint8Array<ArrayBuffer>; key: string; bytes: number },
): Promise<void> {
  const received = async (): Promise<number> =>
    (await service.json<Answer['body']>(`/v1/submissions/${key}`)).received_bytes ?? 0;
  const whenCut = async (): Promise<void> => {
    while ((await received()) < bytes / 2) await sleep(10);
  };
  const proxy = await FaultyProxy.start(t, () => service.url, [cutAfter(bytes, whenCut)]);
  const through = Object.assign(Object.create(service) as ServiceClient, { url: proxy.url });
  await assert.rejects(post(through, { archive, headers: { 'idempotency-key': key } }));
  await received();
}

/** What the command line and the editor do: a folder of half a megabyte, sent with a record in a ledger. */
async function sender(t: TestContext, url: string, key: string) {
  const home = await temporaryFolder(t);
  const folder = join(home, 'project');
  await mkdir(folder);
  await writeFile(join(folder, 'a.sh'), 'sleep 600');
  await writeFile(join(folder, 'noise'), randomBytes(500_000));
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  const client = new RemoteClient(url, key);
  t.after(() => client.close());
  const ledger = directLedger(jobs);
  const selections = new Selections();
  const selection = await selections.select(folder, { isTrusted: true });
  const target = { host: 'https://jobs.example.org', service: 'jobs.example.org', account: undefined };
  const plan = planSubmit(target, { script: 'a.sh', maxRuntime: 600, include: [], exclude: [] }, selection);
  const submit = () => sendPlan({ service: client, selections, ledger, home }, plan, { isTrusted: true });
  return { client, jobs, ledger, submit };
}

test('a response lost after the upload is fetched by its key, and nothing is sent again', async (t) => {
  const service = await start(t);
  const proxy = await FaultyProxy.start(t, () => service.url, [LOST_ANSWER]);
  const { submit } = await sender(t, proxy.url, service.key);
  const record = await submit();
  const { jobs } = await jobsOf(service);
  assert.deepEqual([record.state, record.jobId, record.creditHold], ['queued', jobs[0]?.job_id, HOLD]);
  assert.equal(jobs.length, 1);
  assert.equal(await service.credits(), 1000 - HOLD);
  assert.equal(proxy.passed.filter(({ request }) => request > 10_000).length, 1, 'one upload');
});

test('an upload whose connection breaks twice continues each time, and is sent about once in total', async (t) => {
  const service = await start(t);
  // What the service has not read when the line breaks is lost with it.
  let goal = 0;
  const whenCut = async (): Promise<void> => {
    goal += 100_000;
    const [record] = sending.jobs.list();
    const path = `/v1/submissions/${record?.id}`;
    while (((await service.json<Answer['body']>(path)).received_bytes ?? 0) < goal) await sleep(10);
  };
  const cut = cutAfter(130_000, whenCut);
  const proxy = await FaultyProxy.start(t, () => service.url, [cut, cut]);
  const sending = await sender(t, proxy.url, service.key);
  const { submit } = sending;
  assert.equal((await submit()).state, 'queued');
  assert.equal((await jobsOf(service)).jobs.length, 1);
  assert.equal(await service.credits(), 1000 - HOLD);
  const sent = proxy.passed.map(({ request }) => request);
  const total = sent.reduce((sum, bytes) => sum + bytes, 0);
  assert.ok(sent.length >= 3 && total < 1_000_000, `${sent.join(', ')}: twice would be a million`);
});

for (const [moment, cut] of [
  ['in the middle of an upload', cutAfter(250_000)],
  ['when it has all of an upload', cutAfter('all')],
  ['after the job was committed and before its answer', LOST_ANSWER],
] as const) {
  test(`a service that is killed ${moment} and comes back has one job, with its hold`, async (t) => {
    const running: { service?: ServiceProcess } = {};
    const home = await temporaryFolder(t, async () => running.service?.end('SIGKILL'));
    const begin = async (): Promise<void> => {
      running.service = await ServiceProcess.start(home, { apiKey: 'the-key-of-the-test', config: configOf() });
    };
    let beginning = begin();
    await beginning;
    const restart = async (): Promise<void> => {
      await running.service?.end('SIGKILL');
      delete running.service;
      beginning = begin();
    };
    // The first that asks meanwhile finds nobody; later ones wait, however long the start takes.
    let refused = 0;
    const url = async (): Promise<string> => {
      if (running.service === undefined && (refused += 1) > 1) await beginning;
      return running.service?.client.url ?? 'http://127.0.0.1:9';
    };
    const proxy = await FaultyProxy.start(t, url, [{ ...cut, onStrike: restart }]);
    const { submit } = await sender(t, proxy.url, 'the-key-of-the-test');
    const record = await submit();
    assert.ok(running.service);
    const service = running.service.client;
    const { jobs } = await jobsOf(service);
    assert.deepEqual([jobs.length, record.jobId], [1, jobs[0]?.job_id]);
    assert.equal(await service.credits(), 1000 - HOLD);
    await service.request(`/v1/jobs/${record.jobId}`, { method: 'DELETE' });
  });
}

test('a submission of a program that ended is settled later: it is a job, or it did not arrive', async (t) => {
  const service = await start(t);
  const { client, jobs, ledger, submit } = await sender(t, service.url, service.key);
  const sent = await submit();
  const unknown = { ...sent, jobId: null, state: 'unknown', creditHold: null };
  const deps = { service: client, ledger };
  jobs.update(sent.id, unknown);
  assert.deepEqual(await settleEarlier(deps, unknown), { ...sent, reason: null });

  const lost = { ...unknown, id: randomUUID() };
  jobs.insert(lost);
  const old = await settleEarlier(deps, lost, { now: Date.now() + 25 * 3_600_000 });
  assert.equal(old.state, 'unknown', 'after a day a service may have forgotten the key');
  const failed = await settleEarlier(deps, lost);
  assert.equal(failed.state, 'failed');
  assert.match(failed.reason ?? '', /not completed, so .* has no job and charges nothing/);
  const others = { ...lost, id: randomUUID(), account: 'somebody-else' };
  jobs.insert(others);
  assert.equal((await settleEarlier(deps, others)).state, 'unknown', 'another account has keys of its own');
});
