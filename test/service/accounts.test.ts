import assert from 'node:assert/strict';
import { pbkdf2, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createLogger } from '../../src/core/log.ts';
import { type Admin, openAdmin } from '../../src/service/admin/adminClient.ts';
import { DEFAULT_CONFIG, type ServiceConfig } from '../../src/service/config/config.ts';
import { addAccount } from './support/accounts.ts';
import { makeArchive } from './support/archive.ts';
import { jobsAtOnce, type ServiceClient, startService, testConfig } from './support/service.ts';

const LONG = { 'a.sh': 'sleep 30' };
const SHORT = { 'a.sh': 'true' };
const SCRIPT = { script: 'a.sh' };

function withLimits(limits: Partial<ServiceConfig['limits']>): ServiceConfig {
  return { ...testConfig(), limits: { ...DEFAULT_CONFIG.limits, ...limits } };
}

async function administer<T>(service: ServiceClient, work: (admin: Admin) => Promise<T>): Promise<T> {
  using admin = await openAdmin(service.data, { mayCreate: false });
  return await work(admin);
}

async function detailOf(response: Response): Promise<string> {
  return ((await response.json()) as { detail: string }).detail;
}

const ENDINGS: readonly [string, RegExp, (admin: Admin, account: { id: string; keyId: string }) => Promise<unknown>][] =
  [
    ['a revoked key', /was revoked/, (admin, { keyId }) => admin.call('keys.revoke', { key_id: keyId })],
    [
      'the key of a disabled account',
      /bob is disabled/,
      (admin, { id }) => admin.call('accounts.disable', { account_id: id }),
    ],
  ];
for (const [what, says, end] of ENDINGS) {
  test(`${what} opens nothing any more, at once, and what it had open ends`, async (t) => {
    const service = await startService(t);
    const ada = await addAccount(service, 'ada');
    const { client, keyId } = await addAccount(service, 'bob');
    const job = await client.submit(LONG, SCRIPT);
    await client.untilRunning(job);
    const stream = await client.request(`/v1/jobs/${job}/events`);
    assert.equal(stream.status, 200);
    const others = await ada.client.submit(LONG, SCRIPT);
    const othersStream = await ada.client.request(`/v1/jobs/${others}/events`);
    let hasOthersEnded = false;
    const othersText = othersStream.text().then(() => (hasOthersEnded = true));

    await administer(service, (admin) => end(admin, { id: 'bob', keyId }));
    const refused = await client.request('/v1/me');
    assert.equal(refused.status, 401);
    assert.match(await detailOf(refused), says);
    // Ends without an event `end`: the job goes on.
    assert.doesNotMatch(await stream.text(), /^event: end$/m);
    assert.equal((await ada.client.request('/v1/me')).status, 200);
    assert.equal(hasOthersEnded, false);
    await ada.client.request(`/v1/jobs/${others}`, { method: 'DELETE' });
    await othersText;
  });
}

test('a key expires on time, in the middle of an event stream too', async (t) => {
  const service = await startService(t);
  const expiresAt = new Date(Date.now() + 2_500);
  const { client } = await addAccount(service, 'bob', { expiresAt });
  const job = await client.submit(LONG, SCRIPT);
  const stream = await client.request(`/v1/jobs/${job}/events`);
  await stream.text();
  assert.ok(Date.now() >= expiresAt.getTime());
  const refused = await client.request('/v1/me');
  assert.equal(refused.status, 401);
  assert.match(await detailOf(refused), /expired on \d{4}-\d\d-\d\d/);
});

test('an upload whose key is revoked on the way leaves no job', async (t) => {
  const service = await startService(t);
  const { client, keyId } = await addAccount(service, 'bob');
  const form = new FormData();
  form.append('tarball', new Blob([await makeArchive(SHORT)]), 'workspace.tar.gz');
  form.append('meta', JSON.stringify({ ...SCRIPT, max_runtime: 60 }));
  const encoded = new Response(form);
  const bytes = new Uint8Array(await encoded.arrayBuffer());
  // The second half of the body comes after the key was revoked.
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(bytes.subarray(0, 20));
      await sleep(300);
      await administer(service, (admin) => admin.call('keys.revoke', { key_id: keyId }));
      controller.enqueue(bytes.subarray(20));
      controller.close();
    },
  });
  const headers = { 'content-type': encoded.headers.get('content-type') ?? '' };
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, headers, duplex: 'half' };
  const response = await client.request('/v1/jobs', init);
  assert.equal(response.status, 401);
  assert.match(await detailOf(response), /was revoked/);
  const { queued_jobs: queued, active_jobs: active } = await administer(service, (admin) =>
    admin.call('accounts.show', { account_id: 'bob' }),
  );
  assert.deepEqual({ queued, active }, { queued: 0, active: 0 });
});

test('a disabled account starts no job that waits, and starts it when it is enabled again', async (t) => {
  const service = await startService(t, { config: withLimits({ running_jobs: 1 }) });
  const { client } = await addAccount(service, 'bob');
  const first = await client.submit({ 'a.sh': 'sleep 1' }, SCRIPT);
  const second = await client.submit(SHORT, SCRIPT);
  await client.untilRunning(first);
  await administer(service, (admin) => admin.call('accounts.disable', { account_id: 'bob' }));
  const counts = () => administer(service, (admin) => admin.call('accounts.show', { account_id: 'bob' }));
  for (;;) {
    const { active_jobs: active, queued_jobs: queued } = await counts();
    assert.equal(queued, 1);
    if (active === 0) break;
    await sleep(50);
  }
  await sleep(200);
  assert.equal((await counts()).queued_jobs, 1);
  await administer(service, (admin) => admin.call('accounts.enable', { account_id: 'bob' }));
  assert.equal((await client.untilEnd(second)).state, 'succeeded');
});

test("one account's queue does not hold up another's job, and its limit of running jobs holds", async (t) => {
  const service = await startService(t, { config: jobsAtOnce(2) });
  const { client: ada } = await addAccount(service, 'ada', { limits: { running_jobs: 1 } });
  const { client: bob } = await addAccount(service, 'bob');
  const many = await Promise.all(Array.from({ length: 4 }, () => ada.submit({ 'a.sh': 'sleep 2' }, SCRIPT)));
  const one = await bob.submit(SHORT, SCRIPT);
  assert.equal((await bob.untilEnd(one)).state, 'succeeded');
  const states = await Promise.all(many.map(async (id) => (await ada.job(id)).state));
  assert.ok(states.filter((state) => state === 'queued').length >= 3, states.join());
  await Promise.all(many.map((id) => ada.request(`/v1/jobs/${id}`, { method: 'DELETE' })));
});

test('an archive above the limit of its account is refused with that limit', async (t) => {
  const service = await startService(t);
  const { client } = await addAccount(service, 'bob', { limits: { upload_bytes: 2_000 } });
  const { client: other } = await addAccount(service, 'ada');
  const noise = randomBytes(20_000);
  const response = await client.send({ ...SHORT, 'noise.bin': noise }, SCRIPT);
  assert.equal(response.status, 413);
  assert.match(await detailOf(response), /2\.0 KB, the most that this account may send/);
  assert.equal((await other.send({ ...SHORT, 'noise.bin': noise }, SCRIPT)).status, 201);
});

test('requests above the rate of an account are told in whole seconds when to come again', async (t) => {
  const service = await startService(t);
  const { client } = await addAccount(service, 'bob', { limits: { requests_per_minute: 30 } });
  const { client: other } = await addAccount(service, 'ada');
  const statuses: number[] = [];
  let last = await client.request('/v1/me');
  for (; last.status === 200; last = await client.request('/v1/me')) statuses.push(last.status);
  assert.equal(last.status, 429);
  assert.ok(statuses.length >= 30 && statuses.length <= 33, String(statuses.length));
  assert.match(last.headers.get('retry-after') ?? '', /^[12]$/);
  assert.match(await detailOf(last), /30 requests a minute.*Try again in/);
  assert.equal((await other.request('/v1/me')).status, 200);
  await sleep(Number(last.headers.get('retry-after')) * 1_000);
  assert.equal((await client.request('/v1/me')).status, 200);
});

test('an account has so many streams, uploads and waiting jobs as it may, and room again when one ends', async (t) => {
  const service = await startService(t, { config: withLimits({ running_jobs: 1, streams: 2, queued_jobs: 2 }) });
  const { client } = await addAccount(service, 'bob');
  const job = await client.submit(LONG, SCRIPT);
  await client.untilRunning(job);
  const leave = new AbortController();
  const open = (signal?: AbortSignal) =>
    client.request(`/v1/jobs/${job}/events`, signal === undefined ? {} : { signal });
  await open(leave.signal);
  const second = await open();
  const third = await open();
  assert.equal(third.status, 429);
  assert.match(third.headers.get('retry-after') ?? '', /^\d+$/);
  leave.abort();
  for (;;) {
    const again = await open();
    if (again.status === 200) break;
    await sleep(20);
  }

  await client.submit(SHORT, SCRIPT);
  await client.submit(SHORT, SCRIPT);
  const full = await client.send(SHORT, SCRIPT);
  assert.equal(full.status, 429);
  assert.match(await detailOf(full), /2 jobs waiting/);
  await client.request(`/v1/jobs/${job}`, { method: 'DELETE' });
  await second.text();
});

test('downloads that nobody reads are counted among the streams of their account', async (t) => {
  const service = await startService(t, { config: withLimits({ streams: 2 }) });
  const { client } = await addAccount(service, 'bob');
  const job = await client.submit({ 'a.sh': 'head -c 30000000 /dev/urandom > made' }, SCRIPT);
  await client.untilEnd(job);
  const open = () => client.request(`/v1/jobs/${job}/artifacts`);
  const answers = [await open(), await open(), await open()];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 429],
  );
  for (const answer of answers) await answer.body?.cancel();
  for (let isRefused = true; isRefused; await sleep(20)) {
    const again = await open();
    isRefused = again.status === 429;
    await again.arrayBuffer();
  }
});

test('a client that leaves while the service still looks at its disk takes no place of its account', async (t) => {
  const service = await startService(t);
  const { client } = await addAccount(service, 'bob', { limits: { uploads: 1 } });
  const { hostname, port, host } = new URL(client.url);
  // All threads that ask the file system are busy for a while.
  const busy = Promise.all(Array.from({ length: 8 }, () => promisify(pbkdf2)('', '', 300_000, 64, 'sha512')));
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /v1/jobs HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${client.key}\r\n` +
      'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n',
  );
  await sleep(200);
  socket.destroy();
  await Promise.all([once(socket, 'close'), busy]);
  const response = await client.send(SHORT, SCRIPT);
  assert.equal(response.status, 201, await response.text());
});

test('an address that wrong keys come from is not listened to, but for keys that were good from there', async (t) => {
  const lines: string[] = [];
  const service = await startService(
    t,
    { config: withLimits({ wrong_keys_per_minute: 5 }) },
    createLogger((_level, line) => lines.push(line)),
  );
  const { client: known } = await addAccount(service, 'ada');
  const { client: unknown } = await addAccount(service, 'bob');
  assert.equal((await known.request('/v1/me')).status, 200);
  const guess = service.withKey('fw_a-key-that-somebody-guessed');
  const statuses: number[] = [];
  for (let count = 0; count < 7; count += 1) statuses.push((await guess.request('/v1/me')).status);
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429]);
  const refused = await unknown.request('/v1/me');
  assert.equal(refused.status, 429);
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
  assert.equal((await known.request('/v1/me')).status, 200);
  for (const { key } of [guess, known, unknown, service]) assert.ok(!lines.join('\n').includes(key));
});

test('a wrong key, one of no account and none at all are refused alike for what they are', async (t) => {
  const service = await startService(t);
  for (const key of ['fw_nothing', 'x', `${service.key}x`]) {
    const response = await service.withKey(key).request('/v1/me');
    assert.equal(response.status, 401);
    assert.equal(await detailOf(response), 'Invalid or revoked API key.');
  }
});
