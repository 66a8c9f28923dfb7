import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { test } from 'node:test';
import { checkService } from '../../src/service/checkService.ts';
import { DEFAULT_CONFIG } from '../../src/service/serviceConfig.ts';
import { until } from './commandLine.ts';
import { isolationIsMissing } from './support/isolation.ts';
import { type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

// Field 19 of stat(5) is the niceness; the name of the shell has no spaces.
const PRIORITY = `cut -d' ' -f19 /proc/$$/stat; ionice -p $$`;
const skip = process.platform === 'linux' ? false : 'LINUX ONLY: niceness and available memory';
/** Never available, because the system itself uses more than the rest, and not more than the machine has. */
const NEARLY_ALL_GB = totalmem() / 2 ** 30 - 0.01;

async function priorityIn(service: ServiceClient): Promise<string> {
  const id = await service.submit({ 'a.sh': PRIORITY }, { script: 'a.sh' });
  const { state, reason } = await service.untilEnd(id);
  assert.equal(state, 'succeeded', String(reason));
  return service.output(id);
}

/** Why a queued job waits, once the service says so. */
async function waitingReason(service: ServiceClient, id: string): Promise<string> {
  let why: string | null = null;
  await until(async () => {
    const { state, reason } = await service.job(id);
    assert.equal(state, 'queued');
    why = reason;
    return reason !== null;
  });
  return String(why);
}

const noSandbox = process.platform === 'linux' ? await isolationIsMissing() : 'Linux only';
for (const isolation of ['bubblewrap', 'none'] as const) {
  test(`jobs yield processor and disk to the service, with isolation ${isolation}`, { skip }, async (t) => {
    if (isolation !== 'none' && noSandbox !== undefined) return t.skip(`NO ISOLATION: ${noSandbox}`);
    const usual = await startService(t, { config: testConfig({ isolation, nice: DEFAULT_CONFIG.process.nice }) });
    assert.equal(await priorityIn(usual), '5\nbest-effort: prio 7\n');
    const other = await startService(t, { config: testConfig({ isolation, nice: 3 }) });
    assert.match(await priorityIn(other), /^3\n/);
    const equal = await startService(t, { config: testConfig({ isolation, nice: 0 }) });
    assert.match(await priorityIn(equal), /^0\n/);
  });
}

test('a job waits while the machine has too little memory, says so, and runs with the next service that allows it', {
  skip,
}, async (t) => {
  const home = await temporaryFolder(t);
  const short = await ServiceProcess.start(home, { config: testConfig({ min_free_memory_gb: 100_000 }) });
  t.after(() => short.end('SIGKILL'));
  const id = await short.client.submit({ 'a.sh': 'echo ran' }, { script: 'a.sh' });
  assert.match(
    await waitingReason(short.client, id),
    /^The job waits for memory: the machine has less available than the 100000\.0 GB that stay free/,
  );
  await short.end('SIGTERM');
  const enough = await ServiceProcess.start(home);
  t.after(() => enough.end('SIGKILL'));
  await enough.client.untilEnd(id);
  assert.equal(await enough.client.output(id), 'ran\n');
});

test('next to another job, a job waits for the memory of its class; alone it starts with less', { skip }, async (t) => {
  const large = { name: 'large', description: '', credits_per_minute: 0, cpus: 1, memory_gb: NEARLY_ALL_GB, gpus: 0 };
  const config = { ...testConfig({ max_jobs: 2, min_free_memory_gb: 0 }), machine_classes: [large] };
  const service = await startService(t, { config });
  const first = await service.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
  await service.untilRunning(first);
  const second = await service.submit({ 'a.sh': 'echo second' }, { script: 'a.sh' });
  assert.match(
    await waitingReason(service, second),
    /^The job waits for \d+(?:\.\d)? GB of memory: \d+(?:\.\d)? of \d+(?:\.\d)? in use, the first free by/,
  );
  await service.request(`/v1/jobs/${first}`, { method: 'DELETE' });
  await service.untilEnd(second);
  assert.equal(await service.output(second), 'second\n');
});

test('a minimum that the machine never has is named by --check', async (t) => {
  const { checks } = await checkService(testConfig({ min_free_memory_gb: 100_000 }), await temporaryFolder(t));
  const found = checks.find(({ what }) => what === '100000 GB of memory stay free');
  assert.match(found?.problem ?? '', /so no job would ever start\. Lower \[process\] min_free_memory_gb/);
});
