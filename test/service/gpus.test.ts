import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkService } from '../../src/service/checkService.ts';
import type { MachineClass } from '../../src/service/config/machineClasses.ts';
import { type JobFolder, jobFolder } from '../../src/service/jobFiles/jobFolder.ts';
import { readClaim } from '../../src/service/jobFiles/markers.ts';
import type { ServiceConfig } from '../../src/service/serviceConfig.ts';
import { isolationIsMissing } from './support/isolation.ts';
import { type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';

const skip = process.platform === 'linux' ? false : 'LINUX ONLY: locks of GPUs, and what a job sees in /dev';
const LOCKS = '/dev/shm/farwharf-gpus';
const SEEN = 'echo "${CUDA_VISIBLE_DEVICES-all}|${ROCR_VISIBLE_DEVICES-all}|$(ls /dev | grep "^nvidia" | xargs)"';
const HOLD = { 'a.sh': `${SEEN} > seen.part; mv seen.part seen; exec sleep 600` };
const CLASSES = [needs('cpu', 0), needs('gpu', 1), needs('many', 3)];

function needs(name: string, gpus: number): MachineClass {
  return { name, description: '', cpus: 1, memory_gb: 0.1, gpus };
}

function withClasses(settings: Parameters<typeof testConfig>[0] = {}): ServiceConfig {
  return { ...testConfig({ min_free_memory_gb: 0, ...settings }), machine_classes: CLASSES };
}

/** An nvidia-smi, which the services of this process find first. @param answer shell commands. */
async function installDriver(t: TestContext, answer: string): Promise<void> {
  const folder = await temporaryFolder(t);
  const program = join(folder, 'nvidia-smi');
  await writeFile(program, `#!/bin/sh\n${answer}\n`);
  await chmod(program, 0o755);
  const { PATH = '' } = process.env;
  process.env['PATH'] = folder + delimiter + PATH;
  t.after(() => (process.env['PATH'] = PATH));
}

/** Two GPUs, which no other test has. @param first the number of the first one. @returns their UUIDs. */
async function installGpus(t: TestContext, first = 0): Promise<readonly [string, string]> {
  const uuids = [`GPU-${randomUUID()}`, `GPU-${randomUUID()}`] as const;
  const lines = uuids.map((uuid, index) => `echo "GPU ${first + index}: Stand-in (UUID: ${uuid})"`);
  await installDriver(t, `[ "$1" = -L ] || exit 1; ${lines.join('; ')}`);
  t.after(async () => {
    for (const uuid of uuids) await rm(join(LOCKS, uuid), { force: true });
  });
  return uuids;
}

function folderOf(service: ServiceClient, id: string): JobFolder {
  return jobFolder(join(service.data, 'jobs', id));
}

/** Submits a job that runs until it is cancelled. */
function hold(service: ServiceClient, machineClass = 'gpu'): Promise<string> {
  return service.submit(HOLD, { script: 'a.sh', machine_class: machineClass });
}

/** The variables of a running job, and the nodes of GPUs in its /dev. */
async function seenBy(service: ServiceClient, id: string): Promise<readonly string[]> {
  const file = join(folderOf(service, id).workspace, 'seen');
  while (!existsSync(file)) {
    assert.equal((await service.job(id)).finished_at, null);
    await sleep(50);
  }
  return readFileSync(file, 'utf8').trim().split('|');
}

async function untilReason(service: ServiceClient, id: string, pattern: RegExp): Promise<void> {
  for (;;) {
    const { state, reason } = await service.job(id);
    assert.equal(state, 'queued');
    if (pattern.test(reason ?? '')) return;
    await sleep(50);
  }
}

async function cancel(service: ServiceClient, id: string): Promise<void> {
  await service.request(`/v1/jobs/${id}`, { method: 'DELETE' });
  await service.untilEnd(id);
}

test('each job of a class with one GPU has one of its own, through a restart, beside another service, and a killed runner', {
  skip,
}, async (t) => {
  await installGpus(t);
  const config = withClasses({ isolation: 'none' });
  const before = await startService(t, { config });
  const without = await hold(before, 'cpu');
  assert.deepEqual(await seenBy(before, without), ['', '', '']);
  await cancel(before, without);
  const first = await hold(before);
  const second = await hold(before);
  const third = await hold(before);
  const [[one], [two]] = await Promise.all([seenBy(before, first), seenBy(before, second)]);
  assert.deepEqual(new Set([one, two]), new Set(['0', '1']));
  await untilReason(before, third, /^The job waits for 1 GPU: 2 of 2 in use, the first free by \d\d:\d\d UTC\.$/);
  await cancel(before, second);
  assert.equal((await seenBy(before, third))[0], two);
  await cancel(before, third);

  const other = await startService(t, { config });
  const theirs = await hold(other);
  assert.equal((await seenBy(other, theirs))[0], two, 'the one that the first service has not');
  await before.stop();
  const after = await startService(t, { config, data: before.data });
  const late = await hold(after);
  await untilReason(after, late, /^The job waits for 1 GPU: 2 of 2 in use/);
  const claim = await readClaim(folderOf(after, first).claim);
  process.kill(claim?.pid ?? 0, 'SIGKILL');
  await after.untilEnd(first);
  assert.equal((await seenBy(after, late))[0], one);
  await cancel(after, late);
  await cancel(other, theirs);
});

test('an isolated job has only the nodes of its own GPUs in /dev, and finds them by their UUIDs', {
  skip,
}, async (t) => {
  const why = await isolationIsMissing();
  if (why !== undefined) return t.skip(`NO ISOLATION: ${why}`);
  if (process.getuid?.() !== 0) return t.skip('ROOT ONLY: stand-ins in /dev');
  const number = randomInt(1_000, 1_000_000);
  const nodes = [`nvidia${number}`, `nvidia${number + 1}`];
  t.after(() => Promise.all(nodes.map((node) => rm(join('/dev', node), { force: true }))));
  for (const node of nodes) execFileSync('mknod', ['-m', '666', join('/dev', node), 'c', '1', '3']);
  const uuids = await installGpus(t, number);
  const service = await startService(t, { config: withClasses({ isolation: 'bubblewrap' }) });
  const without = await hold(service, 'cpu');
  assert.deepEqual(await seenBy(service, without), ['', '', '']);
  await cancel(service, without);
  const ids = [await hold(service), await hold(service)];
  const seen = await Promise.all(ids.map((id) => seenBy(service, id)));
  assert.deepEqual(new Set(seen), new Set(uuids.map((uuid, index) => [uuid, '', nodes[index]])));
  for (const id of ids) await cancel(service, id);
});

test('what a job was submitted with does not give it other GPUs than its own', { skip }, async (t) => {
  const ids = [randomUUID(), randomUUID()];
  t.after(() => Promise.all(ids.map((id) => rm(join(LOCKS, id), { force: true }))));
  const service = await startService(t, { config: withClasses({ isolation: 'none', gpus: ids }) });
  const files = { 'a.sh': SEEN, 'requirements.txt': '' };
  const venv = { env: { CUDA_VISIBLE_DEVICES: ids.join(','), ROCR_VISIBLE_DEVICES: ids.join(',') } };
  const id = await service.submit(files, { script: 'a.sh', machine_class: 'gpu', venv });
  await service.untilEnd(id);
  assert.match(await service.output(id), new RegExp(`^${ids[0]}\\|${ids[0]}\\|`, 'm'));
});

test('a driver that hangs delays no other job, and a job that needs a GPU says what it waits for', {
  skip,
}, async (t) => {
  await installDriver(t, 'exec sleep 1000');
  const service = await startService(t, { config: withClasses() });
  const waiting = await hold(service);
  const other = await service.submit({ 'a.sh': 'echo ran' }, { script: 'a.sh', machine_class: 'cpu' });
  await service.untilEnd(other);
  assert.equal(await service.output(other), 'ran\n');
  await untilReason(service, waiting, /^The job waits for 1 GPU: (?:the GPUs|nvidia-smi) /);
  await cancel(service, waiting);
});

test('a class with more GPUs than the machine has is a problem for --check, in the rate card, and refused', {
  skip,
}, async (t) => {
  await installGpus(t);
  const config = withClasses();
  const { checks } = await checkService(config, await temporaryFolder(t));
  assert.deepEqual(
    checks.flatMap(({ problem }) => problem ?? []),
    ['it asks for 3 GPUs, and jobs can have 2, so its jobs are refused. Lower its gpus, or set [process] gpus'],
  );
  const service = await startService(t, { config });
  const unavailable = async (): Promise<readonly (string | undefined)[]> => {
    const { rate_card: rates } = await service.json<{ rate_card: { unavailable?: string }[] }>('/v1/me');
    return rates.map(({ unavailable: why }) => why);
  };
  while ((await unavailable()).every((why) => why === undefined)) await sleep(50);
  assert.deepEqual(await unavailable(), [undefined, undefined, 'It asks for 3 GPUs, and jobs can have 2.']);
  const answer = await service.send({ 'a.sh': 'true' }, { script: 'a.sh', machine_class: 'many' });
  assert.equal(answer.status, 400);
  assert.deepEqual(await answer.json(), {
    detail:
      'meta.machine_class: "many" is not available. It asks for 3 GPUs, and jobs can have 2. Choose another machine class.',
  });
});
