import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SlurmCluster, slurmIsMissing } from '../../scripts/slurm/cluster.ts';
import { DEFAULT_CONFIG, readConfig } from '../../src/service/config/config.ts';
import type { ServiceConfig } from '../../src/service/config/config.ts';
import { Scratch } from './commandLine.ts';
import { type ServiceClient, startService, temporaryFolder } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

const CONFIG: ServiceConfig = {
  ...DEFAULT_CONFIG,
  executor: 'slurm',
  machine_classes: [
    machineClass('small', { partition: 'cpu-small', credits_per_minute: 0.6 }),
    machineClass('large', { partition: 'cpu-large', cpus: 2, memory_gb: 1, credits_per_minute: 3 }),
    machineClass('nowhere', { partition: 'no-such-partition' }),
    machineClass('too-wide', { partition: 'cpu-small', cpus: 64 }),
  ],
  process: DEFAULT_CONFIG.process,
  slurm: { poll_seconds: 0.3, max_jobs: 100, login_environment: false },
};

type MachineClassConfig = NonNullable<ServiceConfig['machine_classes']>[number];

function machineClass(name: string, more: Partial<MachineClassConfig>): MachineClassConfig {
  const defaults = { description: '', credits_per_minute: 1, cpus: 1, memory_gb: 0.25, gpus: 0, sbatch: [] };
  return { ...defaults, name, ...more };
}

describe('a service whose jobs run on a Slurm cluster', async () => {
  const missing = await slurmIsMissing();
  if (missing !== undefined) {
    test('is not tested here', (t) => t.skip(`NO SLURM: ${missing}`));
    return;
  }
  let cluster: SlurmCluster;
  let folder: string;
  before(async () => {
    folder = await mkdtemp('/tmp/fwslurm-');
    cluster = await SlurmCluster.start(folder);
    process.env['SLURM_CONF'] = cluster.env.SLURM_CONF;
  });
  after(async () => {
    delete process.env['SLURM_CONF'];
    await cluster.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const start = (t: TestContext): Promise<ServiceClient> => startService(t, { config: CONFIG });

  test('a job runs on a node, streams its output, brings its results and is charged by its class', async (t) => {
    const service = await start(t);
    const id = await service.submit(
      { 'a.sh': 'echo on $SLURMD_NODENAME in $SLURM_JOB_PARTITION; echo made > artifacts/made.txt; sleep 1.1' },
      { script: 'a.sh', machine_class: 'large' },
    );
    const job = await service.untilEnd(id);
    assert.deepEqual([job.state, job.exit_code, job.reason], ['succeeded', 0, null]);
    assert.equal(await service.output(id), 'on large1 in cpu-large\n');
    assert.ok((job.credits_charged ?? 0) >= 0.05 && (job.credits_charged ?? 9) < 0.5, String(job.credits_charged));
    const states = (await service.events(id)).filter(({ event }) => event === 'state').map(({ data }) => data['state']);
    assert.deepEqual([...new Set(states)], ['queued', 'starting', 'running', 'succeeded']);
    assert.equal((await service.request(`/v1/jobs/${id}/artifacts`)).status, 200);
  });

  test('a job sees the environment of the service, and none of its secrets', async (t) => {
    const secrets = { FARWHARF_API_KEY: 'secret', NODE_OPTIONS: '--no-deprecation', MY_TOKEN: 'secret' };
    Object.assign(process.env, secrets);
    t.after(() => Object.keys(secrets).forEach((name) => delete process.env[name]));
    const service = await start(t);
    const id = await service.submit({ 'a.sh': 'env' }, { script: 'a.sh' });
    assert.equal((await service.untilEnd(id)).state, 'succeeded');
    const output = await service.output(id);
    assert.match(output, new RegExp(`^PATH=${process.env['PATH']}$`, 'm'));
    assert.match(output, /^SLURM_JOB_PARTITION=cpu-small$/m);
    assert.doesNotMatch(output, /secret|NODE_OPTIONS|SLURM_EXPORT_ENV/);
  });

  test('the folder of the service may have any name, and Slurm writes beside the job', async (t) => {
    const data = join(await temporaryFolder(t), "it's 50%x of $HOME");
    const service = await startService(t, { config: CONFIG, data });
    const id = await service.submit({ 'a.sh': 'echo begun; sleep 600' }, { script: 'a.sh' });
    await service.untilRunning(id);
    assert.ok(existsSync(join(data, 'jobs', id, 'slurm.log')));
    await service.json(`/v1/jobs/${id}`, { method: 'DELETE' });
    await service.stop();
  });

  test('the price list has the classes of the configuration, and an unknown class is refused with their names', async (t) => {
    const service = await start(t);
    const { rate_card: rates } = await service.json<{ rate_card: { machine_class: string }[] }>('/v1/me');
    assert.deepEqual(
      rates.map((rate) => rate.machine_class),
      ['small', 'large', 'nowhere', 'too-wide'],
    );
    const response = await service.send({ 'a.sh': 'true' }, { script: 'a.sh', machine_class: 'a100' });
    assert.equal(response.status, 400);
    assert.match(((await response.json()) as { detail: string }).detail, /no "a100" here; there is small, large/);
  });

  test('farwharf serve --check names a class that the cluster would never run, and submits nothing', async () => {
    await using scratch = await Scratch.create();
    const folder = await scratch.folder('etc', { 'service.json': JSON.stringify(CONFIG) });
    const { exit, stdout, stderr } = await scratch.run([
      'serve',
      '--config',
      join(folder, 'service.json'),
      '--check',
      '--json',
    ]);
    assert.equal(exit, 1, stderr);
    const { checks } = JSON.parse(stdout) as { checks: { what: string; problem: string | null }[] };
    assert.ok(
      checks.some(({ what }) => /NOT isolated.*reach its data folder/.test(what)),
      stdout,
    );
    const [nowhere, wide, ...others] = checks.filter(({ problem }) => problem !== null);
    assert.deepEqual(nowhere, {
      what: 'machine class nowhere: partition no-such-partition',
      problem: 'the cluster has cpu-small, cpu-large',
    });
    assert.equal(wide?.what, 'machine class too-wide: partition cpu-small');
    assert.match(wide?.problem ?? '', /The cluster refused: .*node configuration is not available/);
    assert.deepEqual(others, []);
    assert.equal(await cluster.command('squeue', '-h', '-t', 'all', '--name=wrap', '-o', '%i'), '');
  });

  test('a failing script ends with its exit code, and a time limit ends the job to the second', async (t) => {
    const service = await start(t);
    const failing = await service.submit({ 'a.sh': 'exit 7' }, { script: 'a.sh' });
    const endless = await service.submit({ 'a.sh': 'echo begun; sleep 600' }, { script: 'a.sh', max_runtime: 2 });
    const ended = await service.untilEnd(failing);
    assert.deepEqual([ended.state, ended.exit_code], ['failed', 7]);
    const limited = await service.untilEnd(endless);
    assert.equal(limited.state, 'timed_out');
    const seconds = (Date.parse(limited.finished_at ?? '') - Date.parse(limited.started_at ?? '')) / 1000;
    assert.ok(seconds >= 2 && seconds < 8, `${seconds} s`);
  });

  test('cancelling ends a running job and one that waits in the cluster', async (t) => {
    const service = await start(t);
    const running = await service.submit(
      { 'a.sh': 'echo begun; sleep 600' },
      { script: 'a.sh', machine_class: 'large' },
    );
    await service.untilRunning(running);
    const other = await service.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh', machine_class: 'large' });
    await service.untilRunning(other);
    const waiting = await service.submit({ 'a.sh': 'echo never' }, { script: 'a.sh', machine_class: 'large' });
    while ((await service.job(waiting)).reason === null) await sleep(50);
    assert.match((await service.job(waiting)).reason ?? '', /^Waiting in the cluster: (Resources|Priority)\.$/);
    for (const id of [waiting, running, other]) await service.json(`/v1/jobs/${id}`, { method: 'DELETE' });
    for (const id of [waiting, running, other]) assert.equal((await service.untilEnd(id)).state, 'cancelled', id);
    assert.equal(await service.output(waiting), '');
    const listed = await cluster.command('squeue', '-h', '-t', 'PENDING,RUNNING', '-o', '%j');
    for (const id of [waiting, running, other]) assert.ok(!listed.includes(id), `${id} is not in the queue any more`);
  });

  test('a partition that is not there and a class that is too large fail with the words of the cluster', async (t) => {
    const service = await start(t);
    const nowhere = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh', machine_class: 'nowhere' });
    const refused = await service.untilEnd(nowhere);
    assert.equal(refused.state, 'failed');
    assert.match(refused.reason ?? '', /The cluster refused: .*invalid partition/i);
    assert.equal(refused.credits_charged, 0);
    const wide = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh', machine_class: 'too-wide' });
    const never = await service.untilEnd(wide);
    assert.deepEqual([never.state, never.credits_charged], ['failed', 0]);
    assert.match(never.reason ?? '', /cluster/);
  });

  test('a job that the cluster cancels says so', async (t) => {
    const service = await start(t);
    const id = await service.submit({ 'a.sh': "trap '' TERM; echo begun; sleep 600" }, { script: 'a.sh' });
    await service.untilRunning(id);
    await cluster.command('scancel', `--name=${id}`);
    const job = await service.untilEnd(id);
    assert.equal(job.state, 'cancelled');
    assert.match(job.reason ?? '', /^The job was cancelled by the cluster or its administrators/);
  });

  test('a service that is killed while it hands jobs over loses none and runs none twice', async (t) => {
    const home = await temporaryFolder(t);
    const ids: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const service = await ServiceProcess.start(home, { config: CONFIG });
      t.after(() => service.end('SIGKILL'));
      for (let job = 0; job < 4; job += 1) {
        ids.push(await service.client.submit({ 'a.sh': 'echo once; sleep 0.2' }, { script: 'a.sh' }));
      }
      await sleep(60 * round);
      await service.end('SIGKILL');
    }
    const last = await ServiceProcess.start(home, { config: CONFIG });
    t.after(() => last.end('SIGKILL'));
    for (const id of ids) {
      const job = await last.client.untilEnd(id);
      assert.deepEqual([job.state, await last.client.output(id)], ['succeeded', 'once\n'], `${id}: ${job.reason}`);
    }
    const charged = (await Promise.all(ids.map((id) => last.client.job(id)))).reduce(
      (sum, job) => sum + (job.credits_charged ?? Number.NaN),
      0,
    );
    assert.ok(Math.abs((await last.client.credits()) - (1000 - charged)) < 1e-6);
  });

  test('a controller that is killed two seconds after a submit loses no job', async (t) => {
    const service = await start(t);
    const ids = await Promise.all(
      Array.from({ length: 6 }, () => service.submit({ 'a.sh': 'echo once; sleep 1' }, { script: 'a.sh' })),
    );
    await sleep(2_000);
    await cluster.kill('slurmctld');
    await sleep(1_000);
    cluster.restart('slurmctld');
    for (const id of ids) {
      // A controller that gave a number twice takes the node out of use until an administrator says otherwise, at any time.
      while ((await service.job(id)).finished_at === null) await Promise.all([cluster.untilReady(), sleep(500)]);
      const job = await service.job(id);
      assert.deepEqual([job.state, await service.output(id)], ['succeeded', 'once\n'], `${id}: ${job.reason}`);
    }
  });

  test('a node that is killed in the middle of a job ends it with the reason, and charges nothing', async (t) => {
    const service = await start(t);
    const id = await service.submit({ 'a.sh': 'echo begun; sleep 600' }, { script: 'a.sh', machine_class: 'large' });
    await service.untilRunning(id);
    await cluster.kill('slurmd.large1');
    const job = await service.untilEnd(id);
    cluster.restart('slurmd.large1');
    await cluster.untilReady();
    assert.deepEqual([job.state, job.credits_charged], ['failed', 0]);
    assert.match(job.reason ?? '', /took large1 away \(NODE_FAIL.*submit it again/);
    assert.equal(await service.output(id), 'begun\n');
    assert.ok(!existsSync(join(service.data, 'jobs', id, 'workspace')), 'its files are removed');
  });
});

test('a configuration that is not right names what is wrong', async (t) => {
  const home = await temporaryFolder(t);
  const check = async (text: string, pattern: RegExp): Promise<void> => {
    const path = join(home, 'service.toml');
    await writeFile(path, text);
    await assert.rejects(readConfig(path), pattern);
  };
  await check('executor = "slurm"', /machine_classes: the executor "slurm" needs one at least/);
  await check('executor = "pbs"', /executor: /);
  await check('executor = ', /Line 1/);
  const one = '[[machine_classes]]\nname = "a"\ncredits_per_minute = 1\n';
  await check(
    `executor = "slurm"\n${one}sbatch = ["--array=1-9"]`,
    /machine_classes.0.sbatch.0: is said by the service/,
  );
  await check(one + one, /"a" is there twice/);
  await check(`${one}partition = "p"`, /partition and sbatch are for "slurm"/);
  await check(`${one}gpu = 1`, /gpu/);
});
