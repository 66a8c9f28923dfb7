import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from './commandLine.ts';
import { GATE, openGate } from './support/gate.ts';
import { type ServiceClient, startService, temporaryFolder } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';
import { describeOnCluster, onCluster } from './support/slurm.ts';

await describeOnCluster('a service whose Slurm cluster fails', (cluster) => {
  // A controller that was killed and gave a number twice takes the node out of use until an administrator says otherwise, at any time.
  const resumeNodes = () => Promise.all([cluster().untilReady(), sleep(500)]);

  const start = (t: TestContext): Promise<ServiceClient> => startService(t, onCluster(cluster()));

  test('a service that is killed while it hands jobs over loses none and runs none twice', async (t) => {
    const home = await temporaryFolder(t);
    const { data, config } = onCluster(cluster());
    const ids: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const service = await ServiceProcess.start(home, { config, data });
      t.after(() => service.end('SIGKILL'));
      for (let job = 0; job < 4; job += 1) {
        ids.push(await service.client.submit({ 'a.sh': 'echo once; sleep 0.2' }, { script: 'a.sh' }));
      }
      await sleep(60 * round);
      await service.end('SIGKILL');
    }
    const last = await ServiceProcess.start(home, { config, data });
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
    await cluster().kill('slurmctld');
    await sleep(1_000);
    cluster().restart('slurmctld');
    for (const id of ids) {
      while ((await service.job(id)).finished_at === null) await resumeNodes();
      const job = await service.job(id);
      assert.deepEqual([job.state, await service.output(id)], ['succeeded', 'once\n'], `${id}: ${job.reason}`);
    }
  });

  test('a job waits while the configuration of the cluster cannot be read', async (t) => {
    const service = await startService(t, onCluster(cluster()));
    // A first job waits for the proof that jobs cannot read the service's data, which needs the cluster.
    const first = await service.submit({ 'a.sh': 'echo ran' }, { script: 'a.sh' });
    while ((await service.job(first)).finished_at === null) await resumeNodes();
    assert.equal((await service.job(first)).state, 'succeeded');
    const { SLURM_CONF: path } = cluster().env;
    const valid = readFileSync(path, 'utf8');
    // As while an administrator edits it.
    writeFileSync(path, `${valid}\nPartitionNa\n`);
    let id: string;
    try {
      id = await service.submit({ 'a.sh': 'echo ran' }, { script: 'a.sh' });
      await until(async () => /The cluster cannot be asked: .*slurm\.conf/.test((await service.job(id)).reason ?? ''));
      assert.equal((await service.job(id)).state, 'queued');
    } finally {
      writeFileSync(path, valid);
    }
    while ((await service.job(id)).finished_at === null) await resumeNodes();
    assert.equal((await service.job(id)).state, 'succeeded');
  });

  test('a node that is killed in the middle of a job ends it with the reason, and charges nothing', async (t) => {
    const folders = onCluster(cluster());
    const service = await startService(t, folders);
    const id = await service.submit({ 'a.sh': 'echo begun; sleep 600' }, { script: 'a.sh', machine_class: 'large' });
    while ((await service.job(id)).started_at === null) await resumeNodes();
    await cluster().kill('slurmd.large1');
    // What the controller does by itself when a node has been silent for SlurmdTimeout.
    await cluster().command('scontrol', 'update', 'NodeName=large1', 'State=DOWN', 'Reason=killed');
    const job = await service.untilEnd(id);
    cluster().restart('slurmd.large1');
    await cluster().untilReady();
    assert.deepEqual([job.state, job.credits_charged], ['failed', 0]);
    assert.match(job.reason ?? '', /took large1 away \(NODE_FAIL.*submit it again/);
    assert.equal(await service.output(id), 'begun\n');
    // Files are removed after the end is reported.
    await until(() => !existsSync(join(folders.shared, 'jobs', id, 'workspace')));
  });

  test('a job that the cluster runs again after its end changes nothing', async (t) => {
    const folders = onCluster(cluster());
    const service = await startService(t, folders);
    const id = await service.submit({ 'a.sh': `echo made > result.txt; ${GATE}` }, { script: 'a.sh' });
    while ((await service.job(id)).started_at === null) await resumeNodes();
    const number = (await cluster().command('squeue', '-h', `--name=${id}`, '-o', '%i')).trim();
    await cluster().command('scontrol', 'update', `JobId=${number}`, 'Requeue=1');
    await openGate(folders.data, id);
    const job = await service.untilEnd(id);
    const left = (): string[] => readdirSync(join(folders.shared, 'jobs', id));
    await until(() => left().join() === 'results.tar.gz');
    // As a controller does that was killed before it had stored the end.
    await cluster().command('scontrol', 'requeue', number);
    const show = (): Promise<string> => cluster().command('scontrol', 'show', 'job', number);
    await until(async () => {
      await resumeNodes();
      const text = await show();
      if (/JobState=PENDING/.test(text))
        await cluster()
          .command('scontrol', 'update', `JobId=${number}`, 'StartTime=now')
          .catch(() => {});
      return /Restarts=1/.test(text) && /JobState=(COMPLETED|FAILED)/.test(text);
    });
    assert.deepEqual(left(), ['results.tar.gz']);
    assert.deepEqual(await service.job(id), job);
  });
});
