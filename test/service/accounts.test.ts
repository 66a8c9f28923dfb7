import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../../src/core/log.ts';
import { type Admin, openAdmin } from '../../src/service/admin/adminClient.ts';
import { DEFAULT_CONFIG, type ServiceConfig } from '../../src/service/serviceConfig.ts';
import { addAccount } from './support/accounts.ts';
import { makeArchive } from './support/archive.ts';
import { GATE, openGate } from './support/gate.ts';
import { jobsAtOnce, type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';

const LONG = { 'a.sh': 'sleep 600' };
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

const ENDINGS: readonly [
  string,
  number,
  RegExp,
  (admin: Admin, account: { id: string; keyId: string }) => Promise<unknown>,
][] = [
  ['a revoked key', 401, /was revoked/, (admin, { keyId }) => admin.call('keys.revoke', { key_id: keyId })],
  [
    'the key of a disabled account',
    403,
    /The account bob is disabled\. Ask the operator of the service to enable it\./,
    (admin, { id }) => admin.call('accounts.disable', { account_id: id }),
  ],
];
for (const [what, status, says, end] of ENDINGS) {
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
    assert.equal(refused.status, status);
    assert.match(await detailOf(refused), says);
    // Ends without an event `end`: the job continues.
    assert.doesNotMatch(await stream.text(), /^event: end$/m);
    assert.equal((await ada.client.request('/v1/me')).status, 200);
    assert.equal(hasOthersEnded, false);
    await ada.client.request(`/v1/jobs/${others}`, { method: 'DELETE' });
    await othersText;
  });
}

test('a key expires on time, in the middle of an event stream too', async (t) => {
  const service = await startService(t);
  const { client: owner } = await addAccount(service, 'bob');
  const job = await owner.submit(LONG, SCRIPT);
  const openUntil = async (expiresAt: Date) => {
    const input = { account_id: 'bob', expires_at: expiresAt.toISOString() };
    const client = service.withKey((await administer(service, (admin) => admin.call('keys.add', input))).key);
    return { client, expiresAt, stream: await client.request(`/v1/jobs/${job}/events`) };
  };
  // A key that has expired before the stream is open, on a slow machine, is followed by one that lives longer.
  let lifeMs = 1_000;
  let opened = await openUntil(new Date(Date.now() + lifeMs));
  while (opened.stream.status === 401) opened = await openUntil(new Date(Date.now() + (lifeMs *= 2)));
  const { client, expiresAt, stream } = opened;
  assert.equal(stream.status, 200);
  // The job continues, so nothing else ends the stream.
  assert.doesNotMatch(await stream.text(), /^event: end$/m);
  assert.ok(Date.now() >= expiresAt.getTime());
  const refused = await client.request('/v1/me');
  assert.equal(refused.status, 401);
  assert.match(await detailOf(refused), /expired on \d{4}-\d\d-\d\d/);
});

test('an upload whose key is revoked on the way leaves no job', async (t) => {
  const service = await startService(t);
  const { client, keyId } = await addAccount(service, 'bob');
  const form = new FormData();
  // So large that it is written to a file.
  const archive = await makeArchive({ ...SHORT, 'large.bin': randomBytes(1_000_000) });
  form.append('tarball', new Blob([archive]), 'workspace.tar.gz');
  form.append('meta', JSON.stringify({ ...SCRIPT, max_runtime: 60 }));
  const encoded = new Response(form);
  const bytes = new Uint8Array(await encoded.arrayBuffer());
  // The end of the body comes after the key was revoked, when the service has begun to read it.
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(bytes.subarray(0, -20));
      while (readdirSync(join(service.data, 'jobs')).length === 0) await sleep(10);
      await administer(service, (admin) => admin.call('keys.revoke', { key_id: keyId }));
      controller.enqueue(bytes.subarray(-20));
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
  const { client: ada } = await addAccount(service, 'ada');
  const first = await client.submit({ 'a.sh': GATE }, SCRIPT);
  const second = await client.submit(SHORT, SCRIPT);
  await client.untilRunning(first);
  await administer(service, (admin) => admin.call('accounts.disable', { account_id: 'bob' }));
  await openGate(service.data, first);
  const counts = () => administer(service, (admin) => admin.call('accounts.show', { account_id: 'bob' }));
  for (;;) {
    const { active_jobs: active, queued_jobs: queued } = await counts();
    assert.equal(queued, 1);
    if (active === 0) break;
    await sleep(50);
  }
  // Accounts that may start jobs have theirs started meanwhile.
  assert.equal((await ada.untilEnd(await ada.submit(SHORT, SCRIPT))).state, 'succeeded');
  assert.equal((await counts()).queued_jobs, 1);
  await administer(service, (admin) => admin.call('accounts.enable', { account_id: 'bob' }));
  assert.equal((await client.untilEnd(second)).state, 'succeeded');
});

test("one account's queue does not hold up another's job, and its limit of running jobs holds", async (t) => {
  const service = await startService(t, { config: jobsAtOnce(2) });
  const { client: ada } = await addAccount(service, 'ada', { limits: { running_jobs: 1 } });
  const { client: bob } = await addAccount(service, 'bob');
  const many = await Promise.all(Array.from({ length: 4 }, () => ada.submit(LONG, SCRIPT)));
  const one = await bob.submit(SHORT, SCRIPT);
  assert.equal((await bob.untilEnd(one)).state, 'succeeded');
  const states = await Promise.all(many.map(async (id) => (await ada.job(id)).state));
  assert.ok(states.filter((state) => state === 'queued').length >= 3, states.join());
  await Promise.all(many.map((id) => ada.request(`/v1/jobs/${id}`, { method: 'DELETE' })));
});

test('an archive above the limit of its account is refused with that limit, which the account shows', async (t) => {
  const service = await startService(t);
  const { client } = await addAccount(service, 'bob', { limits: { upload_bytes: 2_000 } });
  const { client: other } = await addAccount(service, 'ada');
  const { limits } = await client.json<{ limits: Record<string, unknown> }>('/v1/me');
  assert.equal(limits['max_upload_bytes'], 2_000);
  const noise = randomBytes(20_000);
  const response = await client.send({ ...SHORT, 'noise.bin': noise }, SCRIPT);
  assert.equal(response.status, 413);
  assert.match(await detailOf(response), /2\.0 KB, the limit of this account/);
  assert.equal((await other.send({ ...SHORT, 'noise.bin': noise }, SCRIPT)).status, 201);
});

test('requests above the rate of an account get a Retry-After in whole seconds', async (t) => {
  const service = await startService(t);
  const { client } = await addAccount(service, 'bob', { limits: { requests_per_minute: 30 } });
  const { client: other } = await addAccount(service, 'ada');
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 60 }, () => client.request('/v1/me')));
  // A slow machine takes so long for all of them that some more are due.
  const due = 30 + Math.ceil((performance.now() - startedAt) / 2_000);
  const taken = answers.filter(({ status }) => status === 200).length;
  assert.ok(taken >= 30 && taken <= due, `${taken} of ${due}`);
  const last = answers.find(({ status }) => status !== 200);
  assert.ok(last);
  assert.equal(last.status, 429);
  assert.match(last.headers.get('retry-after') ?? '', /^[12]$/);
  assert.match(await detailOf(last), /30 requests a minute.*Try again in/);
  assert.equal((await other.request('/v1/me')).status, 200);
  // The latest refusal counts: requests that were on their way after an earlier one may have been allowed.
  let refused = await client.request('/v1/me');
  while (refused.status === 200) refused = await client.request('/v1/me');
  await sleep(Number(refused.headers.get('retry-after')) * 1_000);
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

/** Sends the headers of a submission, and returns the beginning of the answer to them. */
async function beginUpload(url: string, key: string, length = 1_000): Promise<{ upload: Socket; answer: string }> {
  const { hostname, port, host } = new URL(url);
  const upload = connect(Number(port), hostname);
  upload.write(
    `POST /v1/jobs HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n` +
      `Expect: 100-continue\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\n\r\n`,
  );
  return { upload, answer: String(await once(upload, 'data')) };
}

test('the service receives so many uploads at once as it may from all accounts, and says which limit was reached', async (t) => {
  const service = await startService(t, { config: withLimits({ all_uploads: 1 }) });
  const { client: alice } = await addAccount(service, 'alice');
  const { client: bob } = await addAccount(service, 'bob');
  const { upload, answer } = await beginUpload(service.url, alice.key);
  assert.match(answer, /^HTTP\/1\.1 100 /);
  let refused = await bob.send(SHORT, SCRIPT);
  // The first upload counts once its request was read.
  for (; refused.status === 201; await sleep(100)) refused = await bob.send(SHORT, SCRIPT);
  assert.equal(refused.status, 429);
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
  assert.match(await detailOf(refused), /receives 1 uploads at once \(all_uploads\)/);
  upload.destroy();
  for (let isRefused = true; isRefused; await sleep(100)) isRefused = (await bob.send(SHORT, SCRIPT)).status === 429;
});

test('an account has all uploads that the service receives at once, until another account needs one', async (t) => {
  const service = await startService(t, { config: withLimits({ all_uploads: 4, uploads: 5 }) });
  const { client: alice } = await addAccount(service, 'alice');
  const { client: bob } = await addAccount(service, 'bob');
  const uploads = [];
  for (let count = 1; count <= 4; count += 1) uploads.push(await beginUpload(service.url, alice.key));
  const ended = Promise.race(uploads.map(({ upload }) => once(upload, 'close')));
  let refused = await alice.send(SHORT, SCRIPT);
  // The uploads count once their requests were read.
  for (; refused.status === 201; await sleep(100)) refused = await alice.send(SHORT, SCRIPT);
  assert.equal(refused.status, 429);
  assert.match(
    await detailOf(refused),
    /^The service receives 4 uploads at once \(all_uploads\), and that many are in/,
  );
  assert.equal((await bob.send(SHORT, SCRIPT)).status, 201);
  await ended;
  for (const { upload } of uploads) upload.destroy();
});

test('an archive that is declared to be larger than it may be is refused as such, however full the disk', async (t) => {
  const service = await startService(t);
  const { client } = await addAccount(service, 'alice');
  const { upload, answer: first } = await beginUpload(service.url, client.key, 1e15);
  let answer = first;
  while (!/"detail":".*"/.test(answer)) answer += String(await once(upload, 'data'));
  assert.match(answer, /^HTTP\/1\.1 413 /m);
  assert.match(answer, /"detail":"The archive is larger than [\d.]+ GB, the limit of this account\./);
  upload.destroy();
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
  const lines: string[] = [];
  const service = await startService(
    t,
    {},
    createLogger((_level, line) => lines.push(line), undefined, { format: 'json' }),
  );
  const { client } = await addAccount(service, 'bob', { limits: { uploads: 1 } });
  const { hostname, port, host } = new URL(client.url);
  // Opening a pipe waits for a writer, so no thread is left to ask the file system.
  const pipe = join(await temporaryFolder(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const held = Array.from({ length: 64 }, () => open(pipe, 'r'));
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /v1/jobs HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${client.key}\r\n` +
      'Expect: 100-continue\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n',
  );
  assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 100 /);
  socket.destroy();
  while (!lines.some((line) => line.includes('"POST"') && line.includes('499'))) await sleep(10);
  const writer = openSync(pipe, 'w');
  for (const handle of await Promise.all(held)) await handle.close();
  closeSync(writer);
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
  // At once: over twelve seconds one more would be due.
  const guesses = await Promise.all(Array.from({ length: 7 }, () => guess.request('/v1/me')));
  assert.deepEqual(
    guesses.map(({ status }) => status).sort((one, other) => one - other),
    [401, 401, 401, 401, 401, 429, 429],
  );
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
