import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { chmod, chown, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Admin, openAdmin } from '../../src/service/admin/adminClient.ts';
import { Store } from '../../src/service/store/store.ts';
import { startService, temporaryFolder } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

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
      message: /lowercase letters/,
    });
    await assert.rejects(admin.call('accounts.show', { account_id: 'bob' }), {
      code: 'missing',
      message: /Account "bob" does not exist/,
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
      disk_bytes: null,
      run_time: null,
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
    await assert.rejects(grant(200, 'march'), { code: 'conflict', message: /already granted 100 credits/ });
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

  test(`${place}: a key is shown once, listed without its secret, and revoked for good`, async (t) => {
    using admin = await open(t);
    await admin.call('accounts.add', { account_id: 'ada' });
    const { key, ...rest } = await admin.call('keys.add', { account_id: 'ada', label: 'laptop' });
    assert.match(key, /^fw_[\w-]{43}$/);
    const { keys } = await admin.call('keys.list', { account_id: 'ada' });
    assert.deepEqual(keys, [rest]);
    assert.ok(!JSON.stringify(keys).includes(key));
    const revoked = await admin.call('keys.revoke', { key_id: rest.key_id });
    assert.equal(revoked.state, 'revoked');
    assert.equal((await admin.call('keys.revoke', { key_id: rest.key_id })).revoked_at, revoked.revoked_at);
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
  assert.ok(running.isServiceRunning);
  await running.call('credits.grant', { account_id: 'ada', amount: 2, reference: 'more' });
  await service.stop();
  assert.deepEqual(
    (await readdir(data)).filter((name) => name.startsWith('admin')),
    [],
  );
  using again = await openAdmin(data, { mayCreate: false });
  assert.ok(!again.isServiceRunning);
  assert.equal((await again.call('accounts.show', { account_id: 'ada' })).credits_available, 7);
});

test('no network reaches the administration of a service, and its socket is open to its own user alone', async (t) => {
  const service = await startService(t, { host: '0.0.0.0' });
  const socket = statSync(join(service.data, 'admin.sock'));
  assert.ok(socket.isSocket());
  assert.deepEqual([socket.mode & 0o777, statSync(service.data).mode & 0o777], [0o600, 0o700]);
  // Nothing that lies in the folder opens anything: neither an address nor a token.
  const file = await readFile(join(service.data, 'admin.json'), 'utf8');
  assert.deepEqual(Object.keys(JSON.parse(file) as object).sort(), ['host', 'pid', 'version']);
  const headers = { authorization: `Bearer ${service.key}` };
  const response = await fetch(`${service.url}/admin/v1/accounts.list`, { method: 'POST', body: '{}', headers });
  assert.equal(response.status, 404);
});

test('another user of the machine cannot administer a service', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('THESE TESTS DO NOT RUN AS ROOT');
  const service = await startService(t);
  const connect = `require('node:net').connect(${JSON.stringify(join(service.data, 'admin.sock'))})
    .on('error', ({ code }) => console.log(code)).on('connect', () => { console.log('connected'); process.exit(); });`;
  const connectAs = (uid: number): string =>
    execFileSync(process.execPath, ['-e', connect], { uid, gid: uid, cwd: '/', encoding: 'utf8' });
  assert.equal(connectAs(65_534), 'EACCES\n');
  // The socket itself is closed too, should somebody open the folder.
  await chmod(service.data, 0o755);
  assert.equal(connectAs(65_534), 'EACCES\n');
  assert.equal(connectAs(0), 'connected\n');
});

test('a socket that a killed service left stops neither the next one nor its administration', async (t) => {
  const home = await temporaryFolder(t);
  const killed = await ServiceProcess.start(home);
  await killed.end('SIGKILL');
  const { data } = killed.client;
  assert.ok(statSync(join(data, 'admin.sock')).isSocket());
  {
    using closed = await openAdmin(data, { mayCreate: false });
    assert.ok(!closed.isServiceRunning);
  }
  const next = await ServiceProcess.start(home);
  t.after(() => next.end('SIGKILL'));
  using admin = await openAdmin(data, { mayCreate: false });
  assert.ok(admin.isServiceRunning);
  await admin.call('accounts.add', { account_id: 'ada' });
});

test('a second service on the same folder takes neither the store nor the socket of the first', async (t) => {
  const { data } = await startService(t);
  await assert.rejects(startService(t, { data }), { code: 'conflict' });
  using admin = await openAdmin(data, { mayCreate: false });
  assert.ok(admin.isServiceRunning);
  await admin.call('accounts.add', { account_id: 'ada' });
});

test('a data folder whose path is too long for the address of a socket is administered like any other', async (t) => {
  const data = join(await temporaryFolder(t), 'a long name '.repeat(10), 'and another '.repeat(10));
  const service = await startService(t, { data });
  using admin = await openAdmin(data, { mayCreate: false });
  assert.ok(admin.isServiceRunning);
  await admin.call('accounts.add', { account_id: 'ada' });
  await service.stop();
  assert.ok(!existsSync(join(data, 'admin.sock')));
});

test('a store that others can read is closed to them when it is opened, with all that lies beside it', async (t) => {
  const data = await temporaryFolder(t);
  new Store(data).dispose();
  const files = ['service.db', 'service.db.v3'].map((name) => join(data, name));
  await writeFile(files[1] ?? '', 'of an earlier version');
  for (const path of files) await chmod(path, 0o644);
  await chmod(data, 0o755);
  new Store(data).dispose();
  for (const path of files) assert.equal(statSync(path).mode & 0o777, 0o600, path);
  assert.equal(statSync(data).mode & 0o777, 0o700);
});

test('a data folder of another user is refused with the command that mends it', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('THESE TESTS DO NOT RUN AS ROOT');
  const data = await temporaryFolder(t);
  await chown(data, 65_534, 65_534);
  await assert.rejects(startService(t, { data }), {
    code: 'permission',
    message: /belongs to user 65534.*sudo chown -R 0 /,
  });
  assert.deepEqual(await readdir(data), []);
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
