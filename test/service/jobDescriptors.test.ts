import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isolateJobs, isolationIsMissing } from './support/isolation.ts';
import { type ServiceClient, startService, temporaryFolder, testConfig } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';
import { describeOnCluster, onCluster } from './support/slurm.ts';

// The one who starts a service may have files open, some of which only root can read.
const WITH_OPEN_FILES = ['bash', '-c', 'exec 250</proc/self/status 7</proc/self/status; exec "$@"', 'bash'];
// The folder that lists them is open while it does, and the shell has its script open.
const LIST = `exec bash -c 'for fd in /proc/$$/fd/*; do [ -e "$fd" ] && echo "\${fd##*/}"; done; exit 0'`;
const skip = process.platform === 'linux' ? false : 'LINUX ONLY: /proc';

async function openFilesIn(service: ServiceClient): Promise<string> {
  const id = await service.submit({ 'a.sh': LIST }, { script: 'a.sh' });
  const job = await service.untilEnd(id);
  assert.equal(job.state, 'succeeded', String(job.reason));
  return service.output(id);
}

const noSandbox = process.platform === 'linux' ? await isolationIsMissing() : 'Linux only';
for (const isolation of ['bubblewrap', 'none'] as const) {
  test(`a job has its standard streams and no open file of who started the service, with isolation ${isolation}`, {
    skip,
  }, async (t) => {
    if (isolation === 'bubblewrap' && noSandbox !== undefined) return t.skip(`NO ISOLATION: ${noSandbox}`);
    if (isolation === 'bubblewrap') isolateJobs();
    const home = await temporaryFolder(t);
    const config = testConfig({ isolation });
    const running = await ServiceProcess.start(home, { config }, { inside: WITH_OPEN_FILES });
    t.after(() => running.end('SIGKILL'));
    assert.equal(await openFilesIn(running.client), '0\n1\n2\n');
  });
}

await describeOnCluster('a job on a cluster', (cluster) => {
  test('has its standard streams and no other open file', async (t) => {
    assert.equal(await openFilesIn(await startService(t, onCluster(cluster()))), '0\n1\n2\n');
  });
});
