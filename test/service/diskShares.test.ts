import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, statfsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { filesFolderOf } from '../../src/service/folders/filesFolder.ts';
import { jobFolder } from '../../src/service/jobFiles/jobFolder.ts';
import type { ServiceConfig } from '../../src/service/serviceConfig.ts';
import { smallDisk, type SmallDisk } from '../smallDisk.ts';
import { addAccount } from './support/accounts.ts';
import { isolateJobs, isolationIsMissing } from './support/isolation.ts';
import { GATE, openGate } from './support/gate.ts';
import { programs } from './support/packages.ts';
import { jobsAtOnce, testConfig, type JobBody, type ServiceClient } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

const isIsolated = (await isolationIsMissing()) === undefined;
if (isIsolated) isolateJobs();

const DISK_MEGABYTES = 500;
const MIN_FREE_GB = 0.1;
const RECOVERY_MS = 30_000;
const UNSTOPPABLE = "trap '' TERM";
const FILL = 'while :; do cat /dev/zero >> fill || sleep 0.01; done';

interface Shared {
  readonly small: SmallDisk;
  readonly service: ServiceClient;
  /** The account that fills the disk. */
  readonly ada: ServiceClient;
  readonly ben: ServiceClient;
  readonly cyd: ServiceClient;
}

/** A service of three accounts on a disk of 500 MB; undefined where none can be mounted. */
async function sharedService(t: TestContext, base: ServiceConfig = jobsAtOnce(8)): Promise<Shared | undefined> {
  const small = smallDisk(t, DISK_MEGABYTES);
  if (small === undefined) return undefined;
  const config = { ...base, retention: { min_free_gb: MIN_FREE_GB } };
  const { client: service, end } = await startProcess(small.home, config);
  t.after(end);
  const limits = { requests_per_minute: 10_000 };
  const accounts = [];
  for (const id of ['ada', 'ben', 'cyd']) accounts.push((await addAccount(service, id, { limits })).client);
  const [ada, ben, cyd] = accounts;
  assert.ok(ada && ben && cyd);
  return { small, service, ada, ben, cyd };
}

async function startProcess(home: string, config: ServiceConfig) {
  const service = await ServiceProcess.start(home, { config });
  return { client: service.client, end: () => service.end('SIGKILL') };
}

function freeMegabytes({ disk }: SmallDisk): number {
  const { bavail, bsize } = statfsSync(disk);
  return (bavail * bsize) / 1e6;
}

/** Waits until the service accepts jobs again, without anybody's hand. */
async function untilItself({ service, ben }: Shared): Promise<void> {
  const deadline = performance.now() + RECOVERY_MS;
  for (;;) {
    const response = await ben.send({ 'a.sh': 'echo again' }, { script: 'a.sh' });
    if (response.status === 201) {
      const { job_id: id } = (await response.json()) as JobBody;
      assert.equal((await ben.untilEnd(id)).state, 'succeeded');
      break;
    }
    assert.equal(response.status, 507, await response.text());
    assert.ok(performance.now() < deadline, 'the service is not itself again');
    await sleep(100);
  }
  const { parts } = await service.json<{ parts: Record<string, { status: string }> }>('/healthz');
  assert.equal(parts['store']?.status, 'ok');
}

/** A job's charge is for its run time, rounded up to the precision of its times. */
function assertExactlyCharged({ credits_charged: charged, started_at: start, finished_at: end }: JobBody): void {
  const seconds = (Date.parse(end ?? '') - Date.parse(start ?? '')) / 1000;
  const price = 0.1 / 60;
  assert.ok(
    (charged ?? 0) > 0 && Math.abs((charged ?? 0) - price * seconds) <= price * 0.5 + 1e-6,
    `${charged} for ${seconds} s`,
  );
}

/** What an operator and other accounts do meanwhile. */
async function assertUsable({ service, cyd }: Shared, cancelled: string): Promise<void> {
  using admin = await openAdmin(service.data, { mayCreate: false });
  assert.ok((await admin.call('service.drain', { reason: 'the disk is full' })).drained_at !== null);
  assert.equal((await admin.call('service.resume', {})).drained_at, null);
  const response = await cyd.request(`/v1/jobs/${cancelled}`, { method: 'DELETE' });
  assert.equal(response.status, 200, await response.text());
  const job = await cyd.untilEnd(cancelled);
  assert.equal(job.state, 'cancelled');
  assert.ok((await admin.call('audit.verify', {})).broken === null);
}

/**
 * Fills the disk by what `fill` does as ada, while jobs of the others run. Checks that these end rightly and that the service works
 * all the time and is itself again.
 *
 * @returns the job of ada, if there is one.
 */
async function fillAndRecover(shared: Shared, fill: () => Promise<string | undefined>): Promise<JobBody | undefined> {
  const { small, service, ada, ben, cyd } = shared;
  const other = await ben.submit({ 'a.sh': `${GATE}; echo made > made.txt; echo done` }, { script: 'a.sh' });
  const cancelled = await cyd.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
  await ben.untilRunning(other);
  await cyd.untilRunning(cancelled);
  const filling = fill();
  while (freeMegabytes(small) > 1000 * MIN_FREE_GB) await Promise.race([sleep(5), filling.then(() => sleep(5))]);
  await openGate(service.data, other);
  await assertUsable(shared, cancelled);
  const id = await filling;
  const hog = id === undefined ? undefined : await ada.untilEnd(id);
  await untilItself(shared);
  const ended = await ben.untilEnd(other);
  assert.deepEqual([ended.state, ended.reason, await ben.output(other)], ['succeeded', null, 'done\n']);
  assertExactlyCharged(ended);
  return hog;
}

const STOPPED =
  /^The job was stopped because the disk of the service had [\d.]+ \w?B left, less than the 100 MB that must stay free\. .* Its files were deleted, so there are no results\.$/;

test('a job that fills the disk is stopped with the figure, whatever it does, and pays for its time', async (t) => {
  const shared = await sharedService(t);
  if (shared === undefined) return;
  const { service, ada } = shared;
  const fillers = {
    'one file': `${UNSTOPPABLE}; ${FILL}`,
    'many folders': `${UNSTOPPABLE}; i=0; while :; do i=$((i+1)); mkdir -p $i/a/b; head -c 3000000 /dev/zero > $i/a/b/x; done`,
    'its home': `${UNSTOPPABLE}; cd; ${FILL}`,
  };
  for (const [what, script] of Object.entries(fillers)) {
    if (what === 'its home' && !isIsolated) continue;
    const hog = await fillAndRecover(shared, () => ada.submit({ 'a.sh': script }, { script: 'a.sh' }));
    assert.equal(hog?.state, 'failed', what);
    assert.match(hog.reason ?? '', STOPPED, what);
    assertExactlyCharged(hog);
    assert.ok(!existsSync(join(service.data, 'jobs', hog.job_id)), what);
    assert.equal((await ada.request(`/v1/jobs/${hog.job_id}/artifacts`)).status, 404);
  }
});

test('a job whose results fill the disk does not keep others from theirs', async (t) => {
  const shared = await sharedService(t);
  if (shared === undefined) return;
  const { ada } = shared;
  // There is room for them once, and not a second time in the archive.
  const script = 'head -c 280000000 /dev/urandom > weights';
  const hog = await fillAndRecover(shared, () => ada.submit({ 'a.sh': script }, { script: 'a.sh' }));
  assert.equal(hog?.state, 'failed');
  assert.match(hog.reason ?? '', STOPPED);
  assert.ok((hog.credits_charged ?? 0) > 0);
});

test('results wait for room on a disk that their account did not fill', async (t) => {
  const shared = await sharedService(t);
  if (shared === undefined) return;
  const { small, service, ben } = shared;
  // With what of the archive fits, less than the tenth of the free space to keep that counts as the account's fault.
  const script = `head -c 5000000 /dev/urandom > made; ${GATE}`;
  const id = await ben.submit({ 'a.sh': script }, { script: 'a.sh' });
  const { workspace, exit } = jobFolder(join(filesFolderOf(service.data), 'jobs', id));
  while ((await stat(join(workspace, 'made')).catch(() => undefined))?.size !== 5_000_000) await sleep(20);
  small.fill();
  small.freePages(500); // enough for the ending of the job
  await openGate(service.data, id);
  while (!existsSync(exit)) await sleep(20);
  await sleep(1000); // so that the results are packed before there is room
  small.free();
  const ended = await ben.untilEnd(id);
  assert.deepEqual([ended.state, ended.reason], ['succeeded', null]);
});

test('an environment that fills the disk ends its job, and leaves nothing', async (t) => {
  const bin = await programs(t, { npm: `${UNSTOPPABLE}; mkdir node_modules; cd node_modules; ${FILL}` });
  const base = testConfig({ max_jobs: 8, read_only: [bin] });
  const shared = await sharedService(t, base);
  if (shared === undefined) return;
  const files = { 'a.sh': 'true', 'package.json': '{}', 'package-lock.json': '{"lockfileVersion":3,"packages":{}}' };
  const meta = { script: 'a.sh', venv: { requirements: 'package-lock.json' } };
  const hog = await fillAndRecover(shared, () => shared.ada.submit(files, meta));
  assert.equal(hog?.state, 'failed');
  assert.match(hog.reason ?? '', STOPPED);
});

test('uploads that fill the disk are refused, and no job is stopped for them', async (t) => {
  const shared = await sharedService(t);
  if (shared === undefined) return;
  const { ada } = shared;
  const chunk = randomBytes(1 << 20);
  /** Sends an archive that never ends, until the service answers. */
  const upload = async (): Promise<number | undefined> => {
    const headers = { authorization: `Bearer ${ada.key}`, 'content-type': 'multipart/form-data; boundary=x' };
    const sent = request(`${ada.url}/v1/jobs`, { method: 'POST', headers });
    sent.on('error', () => {}); // the service may close the connection
    sent.write(
      '--x\r\ncontent-disposition: form-data; name="tarball"; filename="a"\r\ncontent-type: application/gzip\r\n\r\n',
    );
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    const waiting = new AbortController();
    void answered.finally(() => waiting.abort());
    while (!waiting.signal.aborted) if (!sent.write(chunk)) await Promise.race([once(sent, 'drain'), answered]);
    const [{ statusCode }] = await answered;
    sent.destroy();
    return statusCode;
  };
  await fillAndRecover(shared, async () => {
    assert.deepEqual(await Promise.all([upload(), upload(), upload()]), [507, 507, 507]);
    return undefined;
  });
});

test('a job above the disk of its machine class is stopped, one above its account only if that has a limit, and their results stay', async (t) => {
  const base = jobsAtOnce(8);
  const local = { name: 'local', description: '', credits_per_minute: 0.1, cpus: 1, memory_gb: 4, gpus: 0 };
  const classes = [local, { ...local, name: 'small', disk_gb: 0.02 }];
  const shared = await sharedService(t, { ...base, machine_classes: classes });
  if (shared === undefined) return;
  const { service, ada, ben } = shared;
  using admin = await openAdmin(service.data, { mayCreate: false });
  const files = { 'a.sh': 'head -c 40000000 /dev/zero > big; sleep 600' };
  const id = await ada.submit(files, { script: 'a.sh', machine_class: 'small' });
  const stopped = await ada.untilEnd(id);
  assert.equal(stopped.state, 'failed');
  assert.match(
    stopped.reason ?? '',
    /^The job was stopped because its files took 4\d(\.\d)? MB of disk; the machine class small has 20.0 MB\./,
  );
  assert.equal((await ada.request(`/v1/jobs/${id}/artifacts`)).status, 200);

  const others = await ben.submit(files, { script: 'a.sh' });
  await ben.untilRunning(others);
  for (;;) {
    const usage = await admin.call('disk.usage', {});
    const found = usage.jobs.find((job) => job.job_id === others);
    if ((found?.bytes ?? 0) > 40_000_000) {
      assert.equal(found?.state, 'running');
      assert.ok(
        (usage.accounts.find(({ account_id: account }) => account === 'ben')?.workspace_bytes ?? 0) > 40_000_000,
      );
      break;
    }
    await sleep(50);
  }
  await admin.call('accounts.limit', { account_id: 'ben', limits: { disk_bytes: 30_000_000 } });
  const refused = await ben.untilEnd(others);
  assert.match(
    refused.reason ?? '',
    /^The job was stopped because the jobs of its account took 4\d(\.\d)? MB of disk, .* the account's limit is 30.0 MB\./,
  );
  await admin.call('accounts.limit', { account_id: 'ben', limits: { disk_bytes: 1 } });
  for (;;) {
    const response = await ben.send({ 'a.sh': 'true' }, { script: 'a.sh' });
    const { detail } = (await response.json()) as { detail?: string };
    if (response.status === 201) {
      await sleep(100);
      continue;
    }
    assert.equal(response.status, 507);
    assert.match(detail ?? '', /^The jobs of your account use .* of disk.*; its limit is 1 B\./);
    return;
  }
});
