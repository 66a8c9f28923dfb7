import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type JobBody, type ServiceClient, startService } from './support/service.ts';
import { describeOnCluster, machineClass, onCluster, SLURM_CONFIG } from './support/slurm.ts';

const SPARE = machineClass('spare', { partition: 'cpu-spare', cpus: 4, credits_per_minute: 60 });
const CONFIG = {
  ...SLURM_CONFIG,
  machine_classes: [...SLURM_CONFIG.machine_classes, SPARE],
};

/** What a script can do with the signal that asks it to stop. */
const SCRIPTS: readonly [string, string][] = [
  ['leaves SIGTERM as it is', 'echo begun; sleep 600'],
  ['exits with status 0 at SIGTERM', "trap 'exit 0' TERM; echo begun; for i in $(seq 6000); do sleep 0.1; done"],
  ['ignores SIGTERM', "trap '' TERM; echo begun; sleep 600"],
];

await describeOnCluster('the bill of a job that the cluster ended', (cluster) => {
  const start = (t: TestContext): Promise<ServiceClient> => startService(t, onCluster(cluster(), CONFIG));

  /** Submits a job and waits until its script has written its first line. */
  const begin = async (service: ServiceClient, machine: string, script: string): Promise<string> => {
    const id = await service.submit({ 'a.sh': script }, { script: 'a.sh', machine_class: machine });
    await service.untilRunning(id);
    return id;
  };

  const assertFree = (job: JobBody, words: RegExp): void => {
    assert.deepEqual([job.state, job.credits_charged], ['failed', 0], job.reason ?? '');
    assert.match(job.reason ?? '', words);
  };

  for (const [does, script] of SCRIPTS) {
    test(`a preempted job whose script ${does} costs nothing and says so`, async (t) => {
      const service = await start(t);
      const preempted = await begin(service, 'spare', script);
      const urgent = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh', machine_class: 'large' });
      assertFree(await service.untilEnd(preempted), /PREEMPTED.*submit it again.*Nothing was charged/);
      assert.equal((await service.untilEnd(urgent)).state, 'succeeded');
    });

    test(`a job whose script ${does} costs nothing when the site sets its node down, and says so`, async (t) => {
      const service = await start(t);
      const id = await begin(service, 'large', script);
      await cluster().command('scontrol', 'update', 'NodeName=large1', 'State=DOWN', 'Reason=repairs');
      const job = await service.untilEnd(id);
      await cluster().untilReady();
      assertFree(job, /large1.*NODE_FAIL.*submit it again.*Nothing was charged/);
    });
  }

  test('a job that ends itself by a signal is charged, and its own end stands', async (t) => {
    const service = await start(t);
    for (const signal of ['TERM', 'KILL']) {
      const id = await begin(service, 'large', `echo begun; sleep 1; kill -${signal} $$; sleep 600`);
      const job = await service.untilEnd(id);
      assert.deepEqual(
        [job.state, job.reason?.split('. ')[0]?.replace(/\.$/, '')],
        ['failed', `The script was stopped by SIG${signal}`],
      );
      assert.ok((job.credits_charged ?? 0) > 0, `charged ${job.credits_charged}`);
    }
  });

  test('a job that the site cancels costs nothing and says so, also when its script exits with status 0', async (t) => {
    const service = await start(t);
    const id = await begin(service, 'large', SCRIPTS[1]?.[1] ?? '');
    await cluster().command('scancel', `--name=${id}`);
    const job = await service.untilEnd(id);
    assert.deepEqual([job.state, job.exit_code, job.credits_charged], ['cancelled', null, 0]);
    assert.match(job.reason ?? '', /cancelled by the cluster or its administrators.*Nothing was charged/);
  });

  test('a job that answers its time limit with status 0 is over it, without an exit code', async (t) => {
    const service = await start(t);
    const script = SCRIPTS[1]?.[1] ?? '';
    const id = await service.submit({ 'a.sh': script }, { script: 'a.sh', machine_class: 'large', max_runtime: 2 });
    const job = await service.untilEnd(id);
    assert.deepEqual([job.state, job.exit_code], ['timed_out', null]);
    assert.ok((job.credits_charged ?? 0) > 0);
  });

  test("a job that the cluster ends at a limit of its own is over its time, with the cluster's word", async (t) => {
    const service = await start(t);
    const id = await begin(service, 'large', SCRIPTS[1]?.[1] ?? '');
    await cluster().command('scontrol', 'update', `JobName=${id}`, 'EndTime=now');
    const job = await service.untilEnd(id);
    assert.deepEqual([job.state, job.exit_code], ['timed_out', null]);
    assert.match(job.reason ?? '', /^The cluster stopped the job at its time limit/);
    assert.ok((job.credits_charged ?? 0) > 0);
  });
});
