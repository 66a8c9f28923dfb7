// Jobs that try to outrun what ends them: some dozens of processes, which are over within seconds on a busy machine too.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { forkBomb, stubbornBomb } from './support/bombs.ts';
import { isolateJobs, isolationIsMissing } from './support/isolation.ts';
import { processesWith } from './support/processes.ts';
import { type JobBody, type ServiceClient, temporaryFolder, testConfig } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';
import { type SystemUser, SystemUsers } from './support/systemUsers.ts';

const LIMIT_SECONDS = 3;
const CLASS = { name: 'small', description: '', credits_per_minute: 60, cpus: 1, memory_gb: 2, gpus: 0 };
const skip =
  process.platform !== 'linux' ? 'LINUX ONLY' : spawnSync('perl', ['-MPOSIX', '-e1']).status !== 0 && 'NO PERL';

function assertGone(name: string): void {
  assert.deepEqual(processesWith(name), []);
}

/** Signals the runner of a job. */
function signalRunner({ data }: ServiceClient, id: string, signal: NodeJS.Signals): void {
  const { pid } = JSON.parse(readFileSync(join(data, 'jobs', id, 'claim.json'), 'utf8')) as { pid: number };
  process.kill(pid, signal);
}

const noUsers = await SystemUsers.areMissing();
const noSandbox = await isolationIsMissing();

for (const isolation of ['bubblewrap', 'none'] as const) {
  // Root may make control groups here, and a user may not.
  for (const who of ['root', 'a user without privileges'] as const) {
    const isUser = who !== 'root';
    describe(`a job that tries to outrun its end, isolation ${isolation}, in a service of ${who}`, { skip }, () => {
      const missing = isolation === 'bubblewrap' ? noSandbox : undefined;
      const why = missing ?? (isUser || process.getuid?.() === 0 ? (isUser ? noUsers : undefined) : 'NOT ROOT');
      if (why !== undefined) {
        test('is not tested here', (t) => t.skip(`NOT TESTED: ${why}`));
        return;
      }
      if (isolation === 'bubblewrap') isolateJobs();
      let users: SystemUsers;
      let user: SystemUser | undefined;
      before(async () => {
        users = new SystemUsers();
        if (isUser) user = await users.add('bomb');
      });
      after(() => users[Symbol.asyncDispose]());

      async function start(t: TestContext, maxProcesses: number): Promise<{ service: ServiceClient }> {
        const home = await temporaryFolder(t);
        const data = join(home, 'service');
        mkdirSync(data, { mode: 0o700 });
        if (user !== undefined) for (const path of [home, data]) chownSync(path, user.uid, user.gid);
        const config = {
          ...testConfig({ isolation, max_processes: maxProcesses, max_jobs: 4, nice: 5 }),
          machine_classes: [CLASS],
        };
        const owner = user && { uid: user.uid, gid: user.gid };
        const running = await ServiceProcess.start(home, { config, data, host: '127.0.0.1', port: 0 }, owner);
        t.after(() => running.end('SIGKILL'));
        return { service: running.client };
      }

      function submit(service: ServiceClient, script: string, seconds = LIMIT_SECONDS): Promise<string> {
        return service.submit({ 'a.sh': script }, { script: 'a.sh', max_runtime: seconds });
      }

      async function cancel(service: ServiceClient, id: string): Promise<JobBody> {
        await service.json(`/v1/jobs/${id}`, { method: 'DELETE' });
        return service.untilEnd(id);
      }

      test('by forking for ever is stopped, with the limit as the reason', async (t) => {
        const { service } = await start(t, 100);
        const { script, name } = forkBomb();
        const job = await service.untilEnd(await submit(service, script, 600));
        assert.equal(job.reason, 'The job was stopped because it tried to run more than 100 processes and threads.');
        assert.ok((job.credits_charged ?? 0) > 0);
        assertGone(name);
      });

      test('by ignoring signals, without variables and open files, is ended at its limit and pays for it', async (t) => {
        const { service } = await start(t, 200);
        const { script, name } = stubbornBomb(40);
        const job = await service.untilEnd(await submit(service, script));
        assert.deepEqual([job.state, job.credits_charged], ['timed_out', LIMIT_SECONDS]);
        assertGone(name);
      });

      // A stopped runner stands for one that gets no processor time.
      test('while its runner does nothing is ended by the service, at its limit and by a cancellation', async (t) => {
        const { service } = await start(t, 200);
        const [limited, cancelled] = [stubbornBomb(40), stubbornBomb(40)];
        const ids = [await submit(service, limited.script), await submit(service, cancelled.script, 600)] as const;
        for (const id of ids) await service.untilOutput(id, /ready/);
        for (const id of ids) signalRunner(service, id, 'SIGSTOP');
        const [first, second] = await Promise.all([service.untilEnd(ids[0]), cancel(service, ids[1])]);
        assert.deepEqual([first.state, first.credits_charged], ['timed_out', LIMIT_SECONDS]);
        assert.match(first.reason ?? '', /did not end the job at its time limit, so the service did/);
        assert.equal(second.state, 'cancelled');
        assert.ok((second.credits_charged ?? 0) > 0);
        for (const { name } of [limited, cancelled]) assertGone(name);
      });

      test('and is busy delays no other job and no answer of the service, and a cancellation ends it', async (t) => {
        const { service } = await start(t, 200);
        const { script, name } = stubbornBomb(40, '');
        const id = await submit(service, script, 600);
        await service.untilOutput(id, /ready/);
        const other = await submit(service, 'echo other');
        assert.equal((await service.untilEnd(other)).state, 'succeeded');
        assert.equal((await service.request('/healthz')).status, 200);
        const job = await cancel(service, id);
        assert.equal(job.state, 'cancelled');
        assert.ok((job.credits_charged ?? 0) > 0);
        assertGone(name);
      });
    });
  }
}
