import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type Admin, openAdmin } from '../../src/service/admin/adminClient.ts';
import { Scratch, until } from './commandLine.ts';
import { addAccount } from './support/accounts.ts';
import { GATE, openGate } from './support/gate.ts';
import {
  type HealthBody,
  jobsAtOnce,
  type ServiceClient,
  startService,
  temporaryFolder,
  testConfig,
} from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';
import { describeOnCluster, onCluster, SLURM_CONFIG } from './support/slurm.ts';

const REASON = 'new disks, back at 14:00';
const REFUSED = `The operator of this service has drained it: ${REASON}. It accepts no jobs until it is resumed. Running jobs finish, and waiting jobs keep their place. Try again later.`;

/** An operator's commands to a service that runs. */
async function administer(t: TestContext, { data }: ServiceClient): Promise<Admin> {
  const admin = await openAdmin(data, { mayCreate: false });
  t.after(() => admin[Symbol.dispose]());
  return admin;
}

async function metric({ url }: ServiceClient, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
}

test('a drained service lets running jobs finish, and accepts and starts nothing, while everything else works', async (t) => {
  await using scratch = await Scratch.create();
  const service = await startService(t, { config: testConfig({ isolation: 'none', max_jobs: 1 }) });
  const [ada, eve] = [(await addAccount(service, 'ada')).client, (await addAccount(service, 'eve')).client];
  const admin = (...args: string[]) => scratch.run(['admin', ...args, '--data', service.data]);
  const running = await ada.submit({ 'a.sh': `${GATE}; echo done` }, { script: 'a.sh' });
  await ada.untilRunning(running);
  const waiting = await ada.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  // Another account submits again and again; what was accepted before the drain waits.
  const statuses: number[] = [];
  const accepted: string[] = [];
  const over = new AbortController();
  const loop = (async () => {
    while (!over.signal.aborted) {
      const response = await eve.send({ 'a.sh': 'true' }, { script: 'a.sh' });
      statuses.push(response.status);
      const body = (await response.json()) as { job_id?: string };
      if (body.job_id !== undefined) accepted.push(body.job_id);
    }
  })();
  await until(() => accepted.length > 0);

  const drained = await admin('drain', '--reason', REASON);
  assert.match(
    drained.stdout,
    /^The service accepts and starts no jobs\. 1 job running, \d+ waiting\.\n$/,
    drained.stderr,
  );
  const count = accepted.length;
  const seen = statuses.length;
  await until(() => statuses.length > seen + 20);
  over.abort();
  await loop;
  assert.ok(accepted.length <= count + 1, 'at most the upload in progress is still accepted');
  assert.deepEqual([...new Set(statuses.slice(seen + 1))], [503]);

  const refused = await ada.send({ 'a.sh': 'true' }, { script: 'a.sh' });
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '300']);
  assert.deepEqual(await refused.json(), { detail: REFUSED });
  const pieces = await ada.request('/v1/contents/pieces', { method: 'POST', body: new Uint8Array(1) });
  assert.equal(pieces.status, 503, 'nothing is uploaded in vain');
  const env = { FARWHARF_REMOTE_HOST: ada.url, FARWHARF_API_KEY: ada.key };
  const folder = await scratch.folder('project', { 'a.sh': 'true' });
  const submitted = await scratch.run(['submit', folder, '--script', 'a.sh'], { env });
  assert.equal(submitted.exit, 5);
  assert.ok(submitted.stderr.includes(REFUSED.slice(0, -1)), submitted.stderr);
  assert.match(
    (await ada.job(waiting)).reason ?? '',
    /^The operator of the service has drained it: new disks, .* keeps its place/,
  );
  assert.equal((await ada.job(running)).state, 'running');

  const health = await fetch(`${service.url}/healthz`);
  const { status, parts } = (await health.json()) as HealthBody;
  assert.deepEqual([health.status, status, parts['drain']?.status], [200, 'draining', 'draining']);
  assert.doesNotMatch(JSON.stringify(parts), /disks, back/, 'anyone can read it');
  const values = ['draining', 'accepting_jobs', 'healthy'].map((name) => metric(service, `farwharf_${name}`));
  assert.deepEqual(await Promise.all(values), [1, 0, 1]);

  const wait = admin('drain', '--wait');
  await openGate(service.data, running);
  const waited = await wait;
  assert.match(waited.stdout, /No job runs any more\.\n$/, waited.stderr);
  assert.equal((await ada.untilEnd(running)).state, 'succeeded');
  const still = await ada.job(waiting);
  assert.equal(still.state, 'queued');
  assert.match(still.reason ?? '', /new disks/, 'the second drain named no reason, and keeps the first');

  const resumed = await admin('resume');
  assert.match(resumed.stdout, /^The service accepts and starts jobs again\./);
  assert.equal((await ada.untilEnd(waiting)).state, 'succeeded');
  for (const id of accepted) assert.equal((await eve.untilEnd(id)).state, 'succeeded');
  assert.equal((await eve.send({ 'a.sh': 'true' }, { script: 'a.sh' })).status, 201);
  assert.equal((await admin('resume')).stdout, 'The service was not drained.\n');

  const { entries } = await (await administer(t, service)).call('audit.list', { verb: 'service' });
  const drainedAt = (state: unknown): unknown => (state as { drained_at: string | null }).drained_at !== null;
  assert.deepEqual(
    entries
      .toReversed()
      .flatMap(({ verb, before, after, outcome }) =>
        verb === 'service.start' ? [] : [[verb, drainedAt(before), drainedAt(after), outcome]],
      ),
    [
      ['service.drain', false, true, 'done'],
      ['service.drain', true, true, 'done'],
      ['service.resume', true, false, 'done'],
      ['service.resume', false, false, 'done'],
    ],
  );
});

test('a drain survives restarts and kills, also one that was ordered while the service was stopped', async (t) => {
  await using scratch = await Scratch.create();
  const home = await temporaryFolder(t);
  const options = { config: jobsAtOnce(1) };
  const start = async (): Promise<ServiceProcess> => {
    const service = await ServiceProcess.start(home, options);
    t.after(() => service.end('SIGKILL'));
    return service;
  };
  const first = await start();
  const { data } = first.client;
  const ids: string[] = [];
  for (let job = 0; job < 3; job += 1) ids.push(await first.client.submit({ 'a.sh': GATE }, { script: 'a.sh' }));
  const [running = '', next = '', last = ''] = ids;
  await first.client.untilRunning(running);
  await first.end('SIGTERM');
  const order = await scratch.run(['admin', 'drain', '--data', data]);
  assert.match(order.stdout, /^The service is not running\. Once started, it accepts and starts no jobs\./);
  const waits = await scratch.run(['admin', 'drain', '--wait', '--data', data]);
  assert.notEqual(waits.exit, 0);
  assert.match(waits.stderr, /not running, so nothing follows its jobs to their end\. Start it, or leave out --wait/);

  const second = await start();
  assert.equal((await second.client.send({ 'a.sh': 'true' }, { script: 'a.sh' })).status, 503);
  await openGate(data, running);
  assert.equal((await second.client.untilEnd(running)).state, 'succeeded');
  await second.end('SIGKILL');
  const third = await start();
  {
    using admin = await openAdmin(data, { mayCreate: false });
    const { active_jobs: active, waiting_jobs: waiting, drained_at: at } = await admin.call('service.drained', {});
    assert.deepEqual([active, waiting, typeof at], [0, 2, 'string']);
    await admin.call('service.resume', {});
  }
  await third.client.untilRunning(next);
  assert.equal((await third.client.job(last)).state, 'queued', 'they keep their order');
  for (const id of [next, last]) {
    await third.client.untilRunning(id);
    await openGate(data, id);
    assert.equal((await third.client.untilEnd(id)).state, 'succeeded');
  }
});

test('jobs that wait for memory stay in the queue, through a drain too', async (t) => {
  if (process.platform !== 'linux') return t.skip('memory is checked on Linux only');
  const service = await startService(t, { config: testConfig({ max_jobs: 2, min_free_memory_gb: 1e6 }) });
  const admin = await administer(t, service);
  for (let job = 0; job < 3; job += 1) await service.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  const counts = async (): Promise<[number, number]> => {
    const { active_jobs: active, waiting_jobs: waiting } = await admin.call('service.drained', {});
    return [active, waiting];
  };
  for (const drain of ['service.drain', 'service.resume'] as const) {
    assert.deepEqual(await counts(), [0, 3]);
    await admin.call(drain, {});
  }
  assert.deepEqual(await counts(), [0, 3]);
});

await describeOnCluster('a drained service whose jobs run on a Slurm cluster', (cluster) => {
  test('what the cluster has is followed to its end, also after a restart; the rest keeps its place', async (t) => {
    const config = { ...SLURM_CONFIG, slurm: { ...SLURM_CONFIG.slurm, max_jobs: 3 } };
    const folders = onCluster(cluster(), config);
    const first = await startService(t, folders);
    const submit = (script: string) => first.submit({ 'a.sh': script }, { script: 'a.sh', machine_class: 'large' });
    // Two fit on the node, and one more waits in the cluster.
    const [running, other, inCluster, kept] = [
      await submit(GATE),
      await submit(GATE),
      await submit('true'),
      await submit('true'),
    ];
    for (const id of [running, other]) await first.untilRunning(id);
    await until(async () => /in the cluster/.test((await first.job(inCluster)).reason ?? ''));
    const admin = await administer(t, first);
    await admin.call('service.drain', {});
    assert.equal((await first.send({ 'a.sh': 'true' }, { script: 'a.sh' })).status, 503);
    await first.stop();

    const second = await startService(t, folders);
    const again = await administer(t, second);
    for (const id of [running, other]) await openGate(second.data, id);
    for (const id of [running, other, inCluster]) assert.equal((await second.untilEnd(id)).state, 'succeeded');
    await until(async () => (await again.call('service.drained', {})).active_jobs === 0);
    assert.match((await second.job(kept)).reason ?? '', /^The operator of the service has drained it\./);
    await again.call('service.resume', {});
    assert.equal((await second.untilEnd(kept)).state, 'succeeded');
  });
});
