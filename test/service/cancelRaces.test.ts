import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { processesOfJobs } from '../../scripts/load/processes.ts';
import { type JobFolder, jobFolder, writeMarker } from '../../src/service/jobFiles/jobFolder.ts';
import { built } from './support/built.ts';
import { jobsAtOnce, startService, temporaryFolder } from './support/service.ts';

test('jobs that are cancelled while their runners are on their way keep no place and leave no folder', async (t) => {
  const service = await startService(t, { config: jobsAtOnce(1) });
  for (let round = 0; round < 8; round += 1) {
    const id = await service.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
    await sleep(8 * round);
    await service.json(`/v1/jobs/${id}`, { method: 'DELETE' });
    assert.equal((await service.untilEnd(id)).state, 'cancelled');
  }
  const next = await service.submit({ 'a.sh': 'echo runs' }, { script: 'a.sh' });
  assert.equal((await service.untilEnd(next)).state, 'succeeded');
  await service.stop();
  for (const id of readdirSync(join(service.data, 'jobs'))) {
    const left = readdirSync(join(service.data, 'jobs', id)).filter((name) => name !== 'results.tar.gz');
    assert.deepEqual(left, [], id);
  }
});

test('a runner whose folder was removed ends its script', async (t) => {
  const { folder, runner, scripts } = await startRunner(t);
  renameSync(folder.path, `${folder.path}.removed`);
  await once(runner, 'exit');
  assert.deepEqual(scripts(), []);
});

test('what a killed runner left is ended by the clean-up, and what one that lives runs is not', async (t) => {
  const { folder, runner, scripts } = await startRunner(t);
  await cleanUp(folder);
  assert.equal(scripts().length, 1);
  runner.kill('SIGKILL');
  await once(runner, 'exit');
  assert.equal(scripts().length, 1);
  await cleanUp(folder);
  assert.deepEqual(scripts(), []);
});

/** A runner whose script has begun and runs for ten minutes. */
async function startRunner(t: TestContext) {
  const data = await temporaryFolder(t);
  const folder = jobFolder(join(data, 'jobs', `j${process.pid}${Math.random().toString(36).slice(2)}`));
  mkdirSync(folder.workspace, { recursive: true });
  writeFileSync(join(folder.workspace, 'a.sh'), 'exec sleep 600');
  const jobId = folder.path.split('/').at(-1) ?? '';
  writeMarker(folder.spec, {
    jobId,
    command: ['a.sh'],
    maxRuntimeSeconds: 600,
    killGraceMs: 300,
    maxLogBytes: 1e6,
    artifacts: 'artifacts',
    venv: null,
  });
  const runner = spawn(process.execPath, [built('jobRunner.mjs'), folder.path], { stdio: 'ignore' });
  t.after(() => runner.kill());
  const scripts = () => processesOfJobs(data, (id) => id === jobId).filter(({ command }) => command === 'sleep 600');
  while (scripts().length === 0) await sleep(20);
  return { folder, runner, scripts };
}

async function cleanUp(folder: JobFolder): Promise<void> {
  await once(spawn(process.execPath, [built('jobRunner.mjs'), folder.path, '--clean-up'], { stdio: 'ignore' }), 'exit');
}
