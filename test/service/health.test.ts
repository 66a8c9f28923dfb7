import assert from 'node:assert/strict';
import { rmdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { Health } from '../../src/service/http/health.ts';
import { GATE, openGate } from './support/gate.ts';
import { startService, temporaryFolder } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

const { bavail, bsize } = statfsSync(tmpdir());
const FREE_GB = (bavail * bsize) / 1e9;

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
  const { status, problems, proof } = (await health.json()) as { status: string; problems: string[]; proof: string };
  assert.deepEqual([health.status, status, problems.length, proof.length], [503, 'degraded', 1, 64]);
  assert.match(problems[0] ?? '', /has \S+ GB left; below \S+ [GT]B no job is taken/);
  const refused = await full.client.send({ 'a.sh': 'true' }, { script: 'a.sh' });
  assert.equal(refused.status, 507);
  assert.match(
    ((await refused.json()) as { detail: string }).detail,
    /takes no job now: its disk has .*Try again later/,
  );
  openGate(full.client.data, id);
  assert.equal((await full.client.untilEnd(id)).state, 'succeeded');
  assert.equal((await full.client.request(`/v1/jobs/${id}/artifacts`)).status, 200);
});

test('before it is full there is a warning, and jobs are still taken', async (t) => {
  const service = await startService(t, withRetention({ min_free_gb: FREE_GB / 1.5 }));
  const health = await fetch(`${service.url}/healthz`);
  const { status, warnings } = (await health.json()) as { status: string; warnings: string[] };
  assert.deepEqual([health.status, status, warnings.length], [200, 'ok', 1]);
  assert.match(warnings[0] ?? '', /Free some, or shorten \[retention\]/);
  const id = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  assert.equal((await service.untilEnd(id)).state, 'succeeded');
});

test('a store that cannot be written is a problem, and is asked no more often than every two seconds', async (t) => {
  const data = await temporaryFolder(t);
  let probes = 0;
  const probe = (): void => {
    probes += 1;
    throw new Error('attempt to write a readonly database');
  };
  t.mock.method(performance, 'now', () => 5);
  const health = new Health({ store: { file: { probe } }, folders: [data], minFreeBytes: 0 });
  const answers = await Promise.all(Array.from({ length: 50 }, () => health.problems()));
  assert.deepEqual(answers[49], ['The store cannot be written: attempt to write a readonly database.']);
  assert.equal(probes, 1);
  const gone = new Health({ store: { file: { probe: () => {} } }, folders: [`${data}/gone`], minFreeBytes: 0 });
  assert.match((await gone.problems())[0] ?? '', /The data folder cannot be read: ENOENT/);
});

test('the disk is asked no more often than every two seconds, for warnings too', async (t) => {
  const data = await temporaryFolder(t);
  const clock = t.mock.method(performance, 'now', () => 5);
  const store = { file: { probe: () => {} } };
  const health = new Health({ store, folders: [data], minFreeBytes: (FREE_GB * 1e9) / 1.5 });
  const warnings = await health.warnings();
  assert.equal(warnings.length, 1);
  rmdirSync(data);
  clock.mock.mockImplementation(() => 2_005);
  assert.deepEqual(await health.warnings(), warnings);
  assert.deepEqual(await health.problems(), []);
  clock.mock.mockImplementation(() => 2_006);
  assert.match((await health.problems())[0] ?? '', /ENOENT/);
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
