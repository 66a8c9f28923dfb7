import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { refuseNested } from '../../src/service/folders/filesFolder.ts';
import { Scratch } from './commandLine.ts';
import { addAccount } from './support/accounts.ts';
import { GATE, openGate } from './support/gate.ts';
import { startService, temporaryFolder } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';
import { describeOnCluster, onCluster } from './support/slurm.ts';

await describeOnCluster('a service and the jobs of its cluster', (cluster) => {
  test('a job can neither read the store nor reach the administration of the service', async (t) => {
    const folders = onCluster(cluster());
    const service = await startService(t, folders);
    const before = await service.credits();
    assert.ok(statSync(join(folders.data, 'admin.sock')).isSocket(), 'what the job is after is there');
    const attack = `
      cd ${JSON.stringify(folders.data)} 2>&1 && echo entered
      cat ${JSON.stringify(folders.data)}/* 2>&1 | head -c 100
      find ${JSON.stringify(cluster().folder)} -name 'service.db*' -o -name 'admin*'
      ${process.execPath} -e '
        require("node:http")
          .request({ socketPath: ${JSON.stringify(join(folders.data, 'admin.sock'))}, method: "POST", path: "/admin/v1/credits.grant" })
          .on("error", ({ code }) => console.log(code))
          .on("response", () => console.log("answered"))
          .end(JSON.stringify({ account_id: "local", amount: 5000, reference: "mine" }))'`;
    const id = await service.submit({ 'a.sh': attack }, { script: 'a.sh', machine_class: 'large' });
    const job = await service.untilEnd(id);
    assert.equal(job.state, 'succeeded');
    const output = await service.output(id);
    assert.doesNotMatch(output, /entered|SQLite|service\.db|admin\.(json|sock)$|answered/m);
    assert.match(output, /^ENOENT$/m);
    assert.ok((await service.credits()) <= before);
  });

  test('a data folder that a job can read stops the start and is named by --check, with what to do', async (t) => {
    const { config } = onCluster(cluster());
    // Outside of what is private on the test's nodes, as a home on a network file system would be.
    const data = join(await temporaryFolder(t), 'data');
    const says = /Jobs in the partition cpu-\w+ can read the data folder .*Choose a folder on a disk of this machine/;
    await assert.rejects(startService(t, { config, data }), { code: 'refused', message: says });
    await using scratch = await Scratch.create();
    const folder = await scratch.folder('etc', { 'service.json': JSON.stringify(config) });
    const args = ['serve', '--config', join(folder, 'service.json'), '--data', data, '--check'];
    const { exit, stderr } = await scratch.run(args);
    assert.equal(exit, 1);
    assert.match(stderr, /PROBLEM {2}jobs of partition cpu-large cannot read the data folder: Jobs in the partition/);
    // Nothing of the probes stays: no secret, no folder, no job.
    assert.deepEqual(
      readdirSync(data).filter((name) => name.startsWith('.probe')),
      [],
    );
  });

  test("a person's own service may be in a home that the nodes share, until it has another account", async (t) => {
    const { config } = onCluster(cluster());
    const service = await startService(t, {
      config,
      data: join(await temporaryFolder(t), 'data'),
      isPersonal: true,
    });
    const own = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
    assert.equal((await service.untilEnd(own)).state, 'succeeded');
    await addAccount(service, 'ada');
    const refused = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
    while ((await service.job(refused)).reason === null) await sleep(50);
    assert.match((await service.job(refused)).reason ?? '', /can read the data folder/);
    await service.json(`/v1/jobs/${refused}`, { method: 'DELETE' });
  });

  test('what a probe has shown is remembered, so that a cluster that is down does not stop the next start', async (t) => {
    const folders = onCluster(cluster());
    const first = await startService(t, folders);
    await first.stop();
    const proofs = readdirSync(join(folders.data, 'proofs'));
    assert.ok(proofs.length >= 2);
    // A cluster that is down could prove nothing new: the service starts all the same.
    await cluster().kill('slurmctld');
    try {
      const again = await startService(t, folders);
      await again.stop();
    } finally {
      cluster().restart('slurmctld');
      await cluster().untilReady();
    }
    assert.deepEqual(readdirSync(join(folders.data, 'proofs')), proofs);
  });

  test('no job starts before a probe has reported, and neither a busy cluster nor a lost probe stops the service', async (t) => {
    const folders = onCluster(cluster());
    await cluster().command('scontrol', 'update', 'PartitionName=cpu-small', 'State=DOWN');
    t.after(() => cluster().command('scontrol', 'update', 'PartitionName=cpu-small', 'State=UP'));
    const service = await startService(t, folders);
    const waiting = await service.submit({ 'a.sh': 'echo ran' }, { script: 'a.sh' });
    while (!/waiting for proof that jobs/.test((await service.job(waiting)).reason ?? '')) await sleep(50);
    const names = (await cluster().command('squeue', '-h', '-o', '%j')).split('\n');
    assert.ok(!names.includes(waiting));
    const probes = names.filter((name) => name.startsWith('farwharf-probe-'));
    assert.ok(probes.length > 0);
    for (const probe of probes) await cluster().command('scancel', `--name=${probe}`);
    await cluster().command('scontrol', 'update', 'PartitionName=cpu-small', 'State=UP');
    assert.equal((await service.untilEnd(waiting)).state, 'succeeded');
  });

  test('a data folder from before, shared with the nodes, is carried over under a job that runs', async (t) => {
    const { data, shared, config } = onCluster(cluster());
    const home = await temporaryFolder(t);
    const before = await ServiceProcess.start(home, { config, data });
    t.after(() => before.end('SIGKILL'));
    const ended = await before.client.submit({ 'a.sh': 'echo made > artifacts/made.txt' }, { script: 'a.sh' });
    await before.client.untilEnd(ended);
    const running = await before.client.submit({ 'a.sh': `echo begun; ${GATE}; echo done` }, { script: 'a.sh' });
    await before.client.untilRunning(running);
    await before.end('SIGKILL');
    // As earlier versions had it: the store beside the jobs, and nothing that says whose folder it is.
    for (const name of readdirSync(data).filter((each) => each.startsWith('service.db'))) {
      copyFileSync(join(data, name), join(shared, name));
      chmodSync(join(shared, name), 0o644);
    }
    rmSync(join(shared, 'farwharf.json'));

    const fresh = join(data, 'fresh');
    const { key } = before.client;
    const after = await ServiceProcess.start(home, { config, data: fresh, apiKey: key });
    t.after(() => after.end('SIGKILL'));
    await openGate(fresh, running);
    const job = await after.client.untilEnd(running);
    assert.deepEqual([job.state, await after.client.output(running)], ['succeeded', 'begun\ndone\n'], job.reason ?? '');
    assert.equal((await after.client.request(`/v1/jobs/${ended}/artifacts`)).status, 200);
    assert.deepEqual(
      readdirSync(shared).filter((name) => /service\.db|admin/.test(name)),
      [],
    );
    assert.equal(statSync(join(fresh, 'service.db')).mode & 0o777, 0o600);
  });

  test('a backup has the store and the results, and restored on a cluster it has them again', async (t) => {
    const folders = onCluster(cluster());
    const service = await startService(t, folders);
    const id = await service.submit({ 'a.sh': 'echo made > artifacts/made.txt' }, { script: 'a.sh' });
    assert.equal((await service.untilEnd(id)).state, 'succeeded');
    const file = join(folders.data, 'backup-of-today.tar.gz');
    {
      using admin = await openAdmin(folders.data, { mayCreate: false });
      assert.equal((await admin.call('backup.write', { file })).results, 1);
    }
    const listed = (folder: string): string[] => readdirSync(folder, { recursive: true }).map(String);
    assert.deepEqual(
      listed(folders.shared).filter((name) => /service\.db|manifest|backup/.test(name)),
      [],
    );
    await service.stop();
    await using scratch = await Scratch.create();
    const restored = onCluster(cluster());
    const { exit, stderr } = await scratch.run(['admin', 'restore', file, '--data', join(restored.data, 'new')]);
    assert.equal(exit, 0, stderr);
    const again = await startService(t, { ...restored, data: join(restored.data, 'new'), apiKey: service.key });
    assert.equal((await again.request(`/v1/jobs/${id}/artifacts`)).status, 200);
    assert.ok(existsSync(join(restored.shared, 'jobs', id, 'results.tar.gz')));
    assert.ok(!existsSync(join(restored.data, 'new', 'jobs')));
    await again.stop();
    assert.ok(existsSync(file), 'a start removes no backup');
  });
});

test('folders of which one lies in the other are refused, with what to write', async (t) => {
  const folder = await temporaryFolder(t);
  const inner = join(folder, 'inner');
  mkdirSync(inner);
  for (const [data, shared] of [
    [folder, folder],
    [inner, folder],
    [folder, inner],
  ] as const) {
    assert.throws(() => refuseNested(data, shared), { code: 'bad-input', message: /--data \/var\/lib\/farwharf/ });
  }
  refuseNested(inner, `${folder}/inner-too`);
});
