import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { chown, readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Admin, openAdmin } from '../../src/service/admin/adminClient.ts';
import { writeStateFile } from '../../src/service/stateFile.ts';
import { startService, temporaryFolder } from './support/service.ts';

interface AdminFile {
  readonly url: string;
  readonly key: string;
}

async function readAdminFile(data: string): Promise<AdminFile> {
  return JSON.parse(await readFile(join(data, 'admin.json'), 'utf8')) as AdminFile;
}

/** Accounts as an administrator sees them, while the service runs and while it does not. */
const PLACES: readonly [string, (t: TestContext) => Promise<Admin>][] = [
  ['a service that runs', async (t) => openAdmin((await startService(t)).data, { mayCreate: false })],
  ['the store of a service that does not run', async (t) => openAdmin(await temporaryFolder(t), { mayCreate: true })],
];

for (const [place, open] of PLACES) {
  test(`${place}: accounts are added, changed, disabled and enabled`, async (t) => {
    using admin = await open(t);
    const added = await admin.call('accounts.add', { account_id: 'ada', name: 'Ada L.', credits: 12.5 });
    assert.equal(added.name, 'Ada L.');
    assert.equal(added.credits_available, 12.5);
    await assert.rejects(admin.call('accounts.add', { account_id: 'ada' }), { code: 'conflict' });
    await assert.rejects(admin.call('accounts.add', { account_id: 'Ada L' }), {
      code: 'bad-input',
      message: /small letters/,
    });
    await assert.rejects(admin.call('accounts.show', { account_id: 'bob' }), {
      code: 'missing',
      message: /no account "bob"/,
    });

    await admin.call('accounts.limit', { account_id: 'ada', limits: { running_jobs: 2, upload_bytes: 1_000 } });
    const { limits } = await admin.call('accounts.limit', { account_id: 'ada', limits: { upload_bytes: null } });
    assert.deepEqual(limits, {
      running_jobs: 2,
      queued_jobs: null,
      upload_bytes: null,
      uploads: null,
      streams: null,
      requests_per_minute: null,
    });

    assert.notEqual((await admin.call('accounts.disable', { account_id: 'ada' })).disabled_at, null);
    assert.equal((await admin.call('accounts.enable', { account_id: 'ada' })).disabled_at, null);
    const { accounts } = await admin.call('accounts.list', {});
    assert.deepEqual(
      accounts.map(({ account_id: id }) => id),
      ['ada', 'local'],
    );
  });

  test(`${place}: a grant happens once for its reference, and takes no more than is there`, async (t) => {
    using admin = await open(t);
    await admin.call('accounts.add', { account_id: 'ada' });
    const grant = (amount: number, reference: string) =>
      admin.call('credits.grant', { account_id: 'ada', amount, reference, note: 'a test' });
    assert.equal((await grant(100, 'march')).is_new, true);
    const again = await grant(100, 'march');
    assert.equal(again.is_new, false);
    assert.equal(again.account.credits_available, 100);
    await assert.rejects(grant(200, 'march'), { code: 'conflict', message: /100 credits already/ });
    await assert.rejects(grant(-100.5, 'back'), { code: 'bad-input', message: /100 are available/ });
    await assert.rejects(grant(0, 'nothing'), { code: 'bad-input', message: /zero/ });
    assert.equal((await grant(-60, 'back')).account.credits_available, 40);
  });

  test(`${place}: the book of an account has its grants with their notes`, async (t) => {
    using admin = await open(t);
    await admin.call('accounts.add', { account_id: 'ada', credits: 3 });
    await admin.call('credits.grant', { account_id: 'ada', amount: 2, reference: 'may', note: 'for May' });
    const { entries } = await admin.call('credits.list', { account_id: 'ada' });
    assert.deepEqual(
      entries.map(({ kind, credits, reference, note }) => [kind, credits, reference, note]),
      [
        ['grant', 2, 'may', 'for May'],
        ['grant', 3, 'start', null],
      ],
    );
    await assert.rejects(admin.call('credits.list', { account_id: 'bob' }), { code: 'missing' });
  });

  test(`${place}: a key is told once, listed without its secret, and revoked for good`, async (t) => {
    using admin = await open(t);
    await admin.call('accounts.add', { account_id: 'ada' });
    const { key, ...told } = await admin.call('keys.add', { account_id: 'ada', label: 'laptop' });
    assert.match(key, /^fw_[\w-]{43}$/);
    const { keys } = await admin.call('keys.list', { account_id: 'ada' });
    assert.deepEqual(keys, [told]);
    assert.ok(!JSON.stringify(keys).includes(key));
    const revoked = await admin.call('keys.revoke', { key_id: told.key_id });
    assert.equal(revoked.state, 'revoked');
    assert.equal((await admin.call('keys.revoke', { key_id: told.key_id })).revoked_at, revoked.revoked_at);
    await assert.rejects(admin.call('keys.revoke', { key_id: 'none' }), { code: 'missing' });
    const past = new Date(Date.now() - 1_000).toISOString();
    await assert.rejects(admin.call('keys.add', { account_id: 'ada', expires_at: past }), { code: 'bad-input' });
  });
}

test('what was done while the service ran is there when it does not, and the other way round', async (t) => {
  const data = await temporaryFolder(t);
  {
    using closed = await openAdmin(data, { mayCreate: true });
    await closed.call('accounts.add', { account_id: 'ada', credits: 5 });
  }
  const service = await startService(t, { data });
  using running = await openAdmin(data, { mayCreate: false });
  assert.ok(running.url);
  await running.call('credits.grant', { account_id: 'ada', amount: 2, reference: 'more' });
  await service.stop();
  assert.ok(!existsSync(join(data, 'admin.json')));
  using again = await openAdmin(data, { mayCreate: false });
  assert.equal(again.url, undefined);
  assert.equal((await again.call('accounts.show', { account_id: 'ada' })).credits_available, 7);
});

test('the way to administer a service is open to its own user alone, by a token that is no API key', async (t) => {
  const service = await startService(t, { host: '0.0.0.0' });
  const { url, key: token } = await readAdminFile(service.data);
  assert.equal(statSync(join(service.data, 'admin.json')).mode & 0o777, 0o600);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  const ask = (headers: Record<string, string>, base = url) =>
    fetch(`${base}/admin/v1/accounts.list`, { method: 'POST', body: '{}', headers });
  assert.equal((await ask({ authorization: `Bearer ${token}` })).status, 200);
  assert.equal((await ask({})).status, 401);
  assert.equal((await ask({ authorization: `Bearer ${service.key}` })).status, 401);
  assert.equal((await ask({ authorization: `Bearer ${token}`, origin: 'https://example.org' })).status, 400);
  assert.equal((await ask({ authorization: `Bearer ${token}` }, service.url)).status, 404);
});

test('an admin file that outlived its service sends its token to nobody who has the port now', async (t) => {
  const data = await temporaryFolder(t);
  const heard: string[] = [];
  const stranger = createServer((request, response) => {
    heard.push(`${request.url} ${request.headers.authorization ?? ''}`);
    response.end('{"status":"ok","proof":"00"}');
  }).listen(0, '127.0.0.1');
  t.after(() => stranger.close());
  await once(stranger, 'listening');
  const { port } = stranger.address() as AddressInfo;
  const key = 'the-token-of-yesterday';
  writeStateFile(join(data, 'admin.json'), { url: `http://127.0.0.1:${port}`, key, pid: 1, version: '0.0.0' });
  using admin = await openAdmin(data, { mayCreate: true });
  assert.equal(admin.url, undefined);
  assert.equal(heard.length, 1);
  assert.ok(!heard.join().includes(key));
});

test('a folder in which no service has run is not made into one by a question', async (t) => {
  const data = await temporaryFolder(t);
  await assert.rejects(openAdmin(data, { mayCreate: false }), { code: 'missing', message: /--data/ });
  assert.ok(!existsSync(join(data, 'service.db')));
});

test('root is sent to the user whose service it is, as that could not open files of root', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('THESE TESTS DO NOT RUN AS ROOT');
  const data = await temporaryFolder(t);
  await chown(data, 65_534, 65_534);
  await assert.rejects(openAdmin(data, { mayCreate: true }), /sudo -u '#65534' farwharf admin/);
  assert.deepEqual(await readdir(data), []);
});
