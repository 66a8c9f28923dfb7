import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { checkService } from '../../src/service/checkService.ts';
import { addAccount } from './support/accounts.ts';
import { type HealthBody, type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';

// What a job reads of the service when nothing isolates it: the token that makes keys of all accounts.
const TAKE_OVER = { 'a.sh': 'cat ../../../admin.json' };
const REFUSAL = /more than one account.*not isolated.*bubblewrap.*isolation = "none"/s;

/** Lets the services of this process find no bubblewrap. */
async function withoutBubblewrap(t: TestContext): Promise<void> {
  const path = process.env['PATH'];
  const folder = await temporaryFolder(t);
  for (const program of ['bash', 'sh', 'cat', 'sleep']) {
    const [found] = ['/bin', '/usr/bin'].map((bin) => join(bin, program)).filter((file) => existsSync(file));
    if (found !== undefined) await symlink(found, join(folder, program));
  }
  process.env['PATH'] = folder;
  t.after(() => (process.env['PATH'] = path));
}

async function run(service: ServiceClient, files = TAKE_OVER): Promise<string> {
  const id = await service.submit(files, { script: 'a.sh' });
  await service.untilEnd(id);
  return service.output(id);
}

test('a second account stops the jobs of all that nothing isolates, until the configuration says that it is meant', async (t) => {
  await withoutBubblewrap(t);
  const service = await startService(t, { config: testConfig({ isolation: 'auto' }) });
  assert.equal(await run(service, { 'a.sh': 'echo alone' }), 'alone\n');
  const { client: ada } = await addAccount(service, 'ada');
  for (const client of [service, ada]) {
    const response = await client.send(TAKE_OVER, { script: 'a.sh' });
    assert.equal(response.status, 503);
    assert.match(((await response.json()) as { detail: string }).detail, REFUSAL);
  }
  const health = await service.request('/healthz');
  const { status, parts } = (await health.json()) as HealthBody;
  assert.deepEqual([health.status, status, parts['executor']?.status], [503, 'unavailable', 'unavailable']);
  assert.match(parts['executor']?.message ?? '', /No job can be started, so none is accepted/);
  using admin = await openAdmin(service.data, { mayCreate: false });
  await admin.call('accounts.disable', { account_id: 'ada' });
  assert.equal(await run(service, { 'a.sh': 'echo alone again' }), 'alone again\n');
});

test('a job that waits when a second account is added keeps waiting, reports why, and starts when the account is disabled', async (t) => {
  await withoutBubblewrap(t);
  const service = await startService(t, { config: testConfig({ isolation: 'auto', max_jobs: 1 }) });
  const first = await service.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
  await service.untilRunning(first);
  const waiting = await service.submit({ 'a.sh': 'echo ran' }, { script: 'a.sh' });
  await addAccount(service, 'ada');
  await service.json(`/v1/jobs/${first}`, { method: 'DELETE' });
  for (;;) {
    const { state, reason } = await service.job(waiting);
    assert.equal(state, 'queued');
    if (reason !== null) {
      assert.match(reason, REFUSAL);
      break;
    }
    await sleep(20);
  }
  using admin = await openAdmin(service.data, { mayCreate: false });
  await admin.call('accounts.disable', { account_id: 'ada' });
  assert.equal((await service.untilEnd(waiting)).state, 'succeeded');
});

test('with isolation = "none" in the configuration the jobs of several accounts run', async (t) => {
  const service = await startService(t, { config: testConfig({ isolation: 'none' }) });
  const { client } = await addAccount(service, 'ada');
  assert.equal(await run(client, { 'a.sh': 'echo meant' }), 'meant\n');
});

test('adding a second account to a service that cannot isolate prints a warning, and so does a check', async (t) => {
  await withoutBubblewrap(t);
  const config = testConfig({ isolation: 'auto' });
  const service = await startService(t, { config });
  const problems = async (): Promise<string> =>
    (await checkService(config, service.data)).checks.map(({ problem = '' }) => problem).join('');
  assert.doesNotMatch(await problems(), /isolated/);
  using admin = await openAdmin(service.data, { mayCreate: false });
  assert.match((await admin.call('accounts.add', { account_id: 'ada' })).warning ?? '', REFUSAL);
  assert.match(await problems(), REFUSAL);
  await service.stop();
  assert.match(await problems(), REFUSAL);
  const { checks: meant } = await checkService(testConfig({ isolation: 'none' }), service.data);
  assert.doesNotMatch(meant.map(({ problem = '' }) => problem).join(''), /isolated/);
});
