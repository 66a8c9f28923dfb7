import assert from 'node:assert/strict';
import { existsSync, renameSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { Health } from '../../src/service/health/health.ts';
import { until } from './commandLine.ts';
import { GATE, openGate } from './support/gate.ts';
import { type HealthBody, jobsAtOnce, startService, temporaryFolder } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

const { bavail, bsize } = statfsSync(tmpdir());
const FREE_GB = (bavail * bsize) / 1e9;

const STORE = {
  file: { probe: () => {} },
  jobs: { queued: () => ({ count: 0, oldestAt: undefined }) },
  drain: { get: () => undefined },
};

/** The names of the parts that need attention. */
function notOk(parts: HealthBody['parts']): string[] {
  return Object.entries(parts).flatMap(([name, { status }]) => (status === 'ok' ? [] : [name]));
}

function withRetention(retention: Partial<(typeof DEFAULT_CONFIG)['retention']>) {
  return { config: { ...DEFAULT_CONFIG, retention: { ...DEFAULT_CONFIG.retention, ...retention } } };
}

test('a service whose disk is nearly full says so, takes no job and lets those that run come to their end', async (t) => {
  const home = await temporaryFolder(t);
  const first = await ServiceProcess.start(home);
  t.after(() => first.end('SIGKILL'));
  const id = await first.client.submit({ 'a.sh': `${GATE}; echo made > made.txt` }, { script: 'a.sh' });
  await first.client.untilRunning(id);
  await first.end('SIGTERM');
  const full = await ServiceProcess.start(home, withRetention({ min_free_gb: FREE_GB * 2 }));
  t.after(() => full.end('SIGKILL'));
  const health = await fetch(`${full.client.url}/healthz?nonce=0123456789abcdef`);
  const { status, parts, proof } = (await health.json()) as HealthBody & { proof: string };
  assert.deepEqual([health.status, status, proof.length], [503, 'unavailable', 64]);
  assert.deepEqual(notOk(parts), ['disk']);
  assert.match(parts['disk']?.message ?? '', /has \S+ GB left; below \S+ [GT]B no job is taken/);
  const refused = await full.client.send({ 'a.sh': 'true' }, { script: 'a.sh' });
  assert.equal(refused.status, 507);
  assert.match(
    ((await refused.json()) as { detail: string }).detail,
    /takes no job now: its disk is nearly full \(.*Try again later/,
  );
  await openGate(full.client.data, id);
  assert.equal((await full.client.untilEnd(id)).state, 'succeeded');
  assert.equal((await full.client.request(`/v1/jobs/${id}/artifacts`)).status, 200);
});

test('before it is full there is a warning, and jobs are still taken', async (t) => {
  const service = await startService(t, withRetention({ min_free_gb: FREE_GB / 1.5 }));
  const health = await fetch(`${service.url}/healthz`);
  const { status, parts } = (await health.json()) as HealthBody;
  assert.deepEqual([health.status, status, notOk(parts)], [200, 'degraded', ['disk']]);
  assert.match(parts['disk']?.message ?? '', /Free some, or shorten \[retention\]/);
  const id = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  assert.equal((await service.untilEnd(id)).state, 'succeeded');
});

test('a store that cannot be written is unavailable, and is asked no more often than every two seconds', async (t) => {
  const data = await temporaryFolder(t);
  let probes = 0;
  const probe = (): void => {
    probes += 1;
    throw new Error('attempt to write a readonly database');
  };
  const clock = t.mock.method(performance, 'now', () => 5);
  const health = new Health({ store: { ...STORE, file: { probe } }, folders: [data], minFreeBytes: 0 });
  const reports = await Promise.all(Array.from({ length: 50 }, () => health.report()));
  assert.deepEqual(reports[49]?.parts['store'], {
    status: 'unavailable',
    message: 'The store cannot be written: attempt to write a readonly database.',
  });
  assert.deepEqual([reports[49]?.status, probes], ['unavailable', 1]);
  clock.mock.mockImplementation(() => 2_005);
  await health.report();
  assert.equal(probes, 1);
  clock.mock.mockImplementation(() => 2_006);
  await health.report();
  assert.equal(probes, 2);
});

test('what anyone can read about a folder that cannot be read has no path', async (t) => {
  const folders = [join(await temporaryFolder(t), 'gone')];
  const { status, parts } = await new Health({ store: STORE, folders, minFreeBytes: 0 }).report();
  assert.equal(status, 'unavailable');
  assert.equal(
    parts['disk']?.message,
    'The data folder or the files of jobs cannot be read: ENOENT. Their file system may not be mounted.',
  );
});

test('a clock that was set is noticed and counts for ten minutes, in each direction', async (t) => {
  const service = await startService(t);
  const clockOf = async (): Promise<[string, string]> => {
    const { status, parts } = (await (await fetch(`${service.url}/healthz`)).json()) as HealthBody;
    return [status, parts['clock']?.message ?? ''];
  };
  assert.deepEqual(await clockOf(), ['ok', 'The clock has not been set in the last ten minutes.']);
  const now = Date.now.bind(Date);
  const clock = t.mock.method(Date, 'now', () => now() + 3_600_000);
  const [status, ahead] = await clockOf();
  assert.equal(status, 'degraded');
  assert.match(ahead, /^The clock was set ahead by 1 h \d+\.\d s ago, or the machine was suspended\./);
  const text = await (await fetch(`${service.url}/metrics`)).text();
  assert.match(text, /^farwharf_clock_steps_total 1$/m);
  clock.mock.restore();
  assert.match((await clockOf())[1], /^The clock was set back by 1 h/);
  const later = performance.now() + 601_000;
  t.mock.method(performance, 'now', () => later);
  t.mock.method(Date, 'now', () => now() + 601_000);
  assert.equal((await clockOf())[0], 'ok');
});

test('the oldest waiting job and the free slots are parts of the health, and waiting alone degrades nothing', async (t) => {
  const service = await startService(t, { config: jobsAtOnce(2) });
  const messages = async (): Promise<string[]> => {
    const { status, parts } = (await (await fetch(`${service.url}/healthz`)).json()) as HealthBody;
    assert.equal(status, 'ok', JSON.stringify(parts));
    return [parts['queue']?.message ?? '', parts['slots']?.message ?? ''];
  };
  assert.deepEqual(await messages(), ['No job waits.', '2 of 2 slots are free.']);
  const ids: string[] = [];
  for (let job = 0; job < 4; job += 1) ids.push(await service.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' }));
  await Promise.all(ids.slice(0, 2).map((id) => service.untilRunning(id)));
  await until(async () => (await messages())[0]?.startsWith('2 jobs wait, the oldest for ') === true);
  assert.equal((await messages())[1], '0 of 2 slots are free.');
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const value = (name: string): number => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
  assert.deepEqual([value('farwharf_slots'), value('farwharf_slots_free')], [2, 0]);
  assert.ok(value('farwharf_queue_oldest_seconds') > 0);
});

test('a job whose start fails degrades the health until one starts, without a path in its message', async (t) => {
  const service = await startService(t, { runner: '/nowhere/jobRunner.mjs' });
  await service.untilEnd(await service.submit({ 'a.sh': 'true' }, { script: 'a.sh' }));
  const response = await fetch(`${service.url}/healthz`);
  const { status, parts } = (await response.json()) as HealthBody;
  assert.deepEqual([response.status, status, notOk(parts)], [200, 'degraded', ['executor']]);
  assert.match(
    parts['executor']?.message ?? '',
    /^The last launch of a job failed .* ago \(missing\)\. The log has the reason\.$/,
  );
});

test('while the folder of all jobs is gone, nothing is accepted, and the health says so', async (t) => {
  const service = await startService(t);
  const jobs = join(service.data, 'jobs');
  renameSync(jobs, `${jobs}.away`);
  // It is checked at most every two seconds.
  await until(async () => {
    const health = await fetch(`${service.url}/healthz`);
    return health.status === 503 && notOk(((await health.json()) as HealthBody).parts).join() === 'disk';
  });
  const refused = await service.send({ 'a.sh': 'true' }, { script: 'a.sh' });
  assert.deepEqual([refused.status, refused.headers.has('retry-after')], [503, true]);
  assert.match(await refused.text(), /file system may not be mounted/);
  assert.ok(!existsSync(jobs));
  renameSync(`${jobs}.away`, jobs);
  const id = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  assert.equal((await service.untilEnd(id)).state, 'succeeded');
});

test('asking for results that were removed says so, and the job stays in the list', async (t) => {
  const home = await temporaryFolder(t);
  const first = await ServiceProcess.start(home);
  t.after(() => first.end('SIGKILL'));
  const id = await first.client.submit({ 'a.sh': 'echo out; echo made > made.txt' }, { script: 'a.sh' });
  await first.client.untilEnd(id);
  await first.end('SIGTERM');
  const { client, end } = await startNext();
  let response = await client.request(`/v1/jobs/${id}/artifacts`);
  while (response.status === 200) {
    await response.arrayBuffer();
    response = await client.request(`/v1/jobs/${id}/artifacts`);
  }
  assert.equal(response.status, 404);
  assert.match(
    ((await response.json()) as { detail: string }).detail,
    /results of this job were deleted on 20\d\d-\d\d-\d\d/,
  );
  assert.equal((await client.job(id)).state, 'succeeded');
  while ((await client.output(id)) !== '') await new Promise((resolve) => setTimeout(resolve, 20));
  assert.match(await client.output(id, 'stderr'), /farwharf: the log was deleted/);
  assert.equal((await client.events(id)).at(-1)?.event, 'end');
  await end();

  async function startNext() {
    const next = await ServiceProcess.start(home, {
      ...withRetention({ days: 1e-6, results_days: 1e-6 }),
      isRetentionConfirmed: true,
    });
    t.after(() => next.end('SIGKILL'));
    return { client: next.client, end: () => next.end('SIGTERM') };
  }
});
