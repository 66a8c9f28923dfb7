import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from './commandLine.ts';
import { GATE, openGate } from './support/gate.ts';
import { type HealthBody, temporaryFolder } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';
import { describeOnCluster, onCluster, SLURM_CONFIG } from './support/slurm.ts';

// The answers of the cluster that a service waits for before it believes in an end.
const ANSWERS = 3;

await describeOnCluster('a service whose shared folder goes away', (cluster) => {
  test('decides nothing until it is back, and then loses no job, no result and no credit', async (t) => {
    if (spawnSync('unshare', ['--mount', 'true']).status !== 0)
      return t.skip('NO MOUNTS: only root can take a file system away');
    const slurm = { ...SLURM_CONFIG.slurm, max_jobs: 2 };
    const { data, shared, config } = onCluster(cluster(), { ...SLURM_CONFIG, slurm });
    const home = await temporaryFolder(t);
    const service = await ServiceProcess.start(home, { data, config }, { inside: ['unshare', '--mount'] });
    t.after(() => service.end('SIGKILL'));
    const { client } = service;
    // As the service sees it: the nodes keep the folder.
    const mount = (...command: string[]): string => {
      const { status, stdout, stderr } = spawnSync('nsenter', ['--mount', `--target=${service.pid}`, ...command], {
        encoding: 'utf8',
      });
      assert.equal(status, 0, stderr);
      return stdout;
    };
    const script = { 'a.sh': `echo begun; ${GATE}; echo over | tee result.txt` };
    const ending = await client.submit(script, { script: 'a.sh' });
    const running = await client.submit(script, { script: 'a.sh' });
    for (const id of [ending, running]) await client.untilRunning(id);
    const waiting = await client.submit({ 'a.sh': 'echo waited' }, { script: 'a.sh' });

    mount('mount', '-t', 'tmpfs', 'none', shared);
    await openGate(data, ending);
    await until(() => existsSync(join(shared, 'jobs', ending, 'exit.json')));
    // Long enough for the cluster to report the end often enough, and for the service to look at each job.
    await sleep(1_000 * (ANSWERS * slurm.poll_seconds + 2));
    const health = async (): Promise<HealthBody> => (await (await fetch(`${client.url}/healthz`)).json()) as HealthBody;
    await until(async () => (await health()).status === 'unavailable');
    assert.match((await health()).parts['disk']?.message ?? '', /files of jobs cannot be read: ENOENT/);
    assert.deepEqual([(await client.job(ending)).state, (await client.job(running)).state], ['running', 'running']);
    assert.equal((await client.job(waiting)).state, 'queued');
    for (const response of [
      await client.send({ 'a.sh': 'true' }, { script: 'a.sh' }),
      await client.request(`/v1/jobs/${running}`, { method: 'DELETE' }),
    ]) {
      assert.equal(response.status, 503);
      assert.ok(Number(response.headers.get('retry-after')) > 0);
      assert.match(await response.text(), /file system may not be mounted/);
    }
    assert.equal(mount('ls', '-A', shared), '', 'nothing is written in its place');

    mount('umount', shared);
    const ended = await client.untilEnd(ending);
    assert.deepEqual([ended.state, await client.output(ending)], ['succeeded', 'begun\nover\n'], ended.reason ?? '');
    assert.equal((await client.request(`/v1/jobs/${ending}/artifacts`)).status, 200);

    // Now it is away for the nodes too, while a job ends.
    await until(() => client.job(waiting).then(({ state }) => state === 'succeeded'));
    const away = `${shared}.away`;
    await openGate(data, running);
    renameSync(shared, away);
    await sleep(2_000);
    assert.equal((await client.job(running)).state, 'running');
    renameSync(away, shared);
    for (const id of [running, waiting]) assert.equal((await client.untilEnd(id)).state, 'succeeded');
    await until(async () => (await health()).status === 'ok');
    const charges = await Promise.all([ending, running, waiting].map((id) => client.job(id)));
    const charged = charges.reduce((sum, { credits_charged: credits }) => sum + (credits ?? Number.NaN), 0);
    assert.ok(Math.abs((await client.credits()) - (1000 - charged)) < 1e-6);
  });
});
