import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger } from '../../../../src/core/log.ts';
import { jobFolder } from '../../../../src/service/jobFiles/jobFolder.ts';
import { SlurmExecutor } from '../../../../src/service/slurm/slurmExecutor.ts';

/** A cluster of scripts, for what a real one does only when it is broken. */
function fakeCluster(t: TestContext, programs: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-slurm-'));
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const path = process.env['PATH'];
  process.env['PATH'] = `${folder}${delimiter}${path}`;
  t.after(() => {
    process.env['PATH'] = path;
    rmSync(folder, { recursive: true });
  });
  return folder;
}

const USER = { name: 'ada', id: 12_345, isPerson: false };
const JOB = { id: 'j1', account: 'ada' };

function startExecutor(t: TestContext): SlurmExecutor {
  const program = { node: process.execPath, runner: 'runner', hasLoginEnvironment: false };
  const privacy = { beforeLaunch: () => Promise.resolve(), stop: () => Promise.resolve() };
  const executor = new SlurmExecutor({
    program,
    privacy,
    classes: [],
    accounts: new Map(),
    keepsEnvironments: () => false,
    users: { all: [USER], of: () => USER },
    capacity: 1,
    pollMs: 1,
    log: silentLogger,
  });
  t.after(() => executor.stop());
  return executor;
}

test('a job that only the accounts of a cluster still have is not waited for for ever', async (t) => {
  const cluster = fakeCluster(t, { squeue: 'exit 0', sacct: 'echo "7|RUNNING|None|n1|12345|N/A|j1"' });
  const folder = jobFolder(cluster);
  writeFileSync(folder.claim, '{}');
  const executor = startExecutor(t);
  let states = '';
  for (let state = 'running'; state === 'running'; await sleep(20)) {
    ({ state } = await executor.status(JOB, folder));
    states += ` ${state}`;
  }
  assert.match(states, /^( running){2,} gone$/);
});

test('what narrows the answers of squeue for a person does not hide jobs from the service', async (t) => {
  const cluster = fakeCluster(t, { squeue: 'cd "$(dirname "$0")"; env > now; mv now seen' });
  process.env['SQUEUE_PARTITION'] = 'another';
  process.env['SLURM_CONF'] = '/nowhere/slurm.conf';
  t.after(() => ['SQUEUE_PARTITION', 'SLURM_CONF'].forEach((name) => delete process.env[name]));
  const executor = startExecutor(t);
  await executor.status(JOB, jobFolder(cluster));
  while (!existsSync(join(cluster, 'seen'))) await sleep(10);
  const seen = readFileSync(join(cluster, 'seen'), 'utf8');
  assert.match(seen, /^SLURM_CONF=\/nowhere/m);
  assert.doesNotMatch(seen, /SQUEUE_PARTITION/);
});

test('who cancelled a job is asked of the accounts, and waited for while they are behind', async (t) => {
  const cluster = fakeCluster(t, {
    squeue: 'echo "7|CANCELLED|None|n1|12345|N/A|j1"',
    scontrol: 'echo "JobId=7 Restarts=0"',
    sacct:
      'cd "$(dirname "$0")"; if mkdir asked 2>&-; then echo "7|RUNNING|None|n1|12345|N/A|j1"; else echo "7|CANCELLED by 12345|None|n1|12345|N/A|j1"; fi',
  });
  const folder = jobFolder(cluster);
  writeFileSync(folder.claim, '{}');
  const executor = startExecutor(t);
  let status = await executor.status(JOB, folder);
  for (; status.state === 'running'; await sleep(20)) status = await executor.status(JOB, folder);
  assert.ok(status.state === 'gone' && status.ending !== undefined);
  assert.equal(status.ending.isCharged, true);
  assert.match(status.ending.reason, /cancelled in the cluster by its own user/);
});

test('a job that ended is not over while the cluster does not say whether it runs it again', async (t) => {
  const cluster = fakeCluster(t, {
    squeue: 'echo "7|CANCELLED|None|n1|12345|N/A|j1"',
    sacct: 'exit 1',
    scontrol:
      'cd "$(dirname "$0")"; if mkdir asked 2>&-; then echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1; fi; echo "JobId=7 Restarts=1"',
  });
  const folder = jobFolder(cluster);
  writeFileSync(folder.claim, '{}');
  const executor = startExecutor(t);
  let status = await executor.status(JOB, folder);
  for (; status.state === 'running'; await sleep(20)) status = await executor.status(JOB, folder);
  assert.equal(status.state, 'returned');
});

test('a job that ended and that the cluster has forgotten is over', async (t) => {
  const cluster = fakeCluster(t, {
    squeue: 'echo "7|COMPLETED|None|n1|12345|N/A|j1"',
    scontrol: 'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1',
  });
  const folder = jobFolder(cluster);
  writeFileSync(folder.claim, '{}');
  const executor = startExecutor(t);
  let status = await executor.status(JOB, folder);
  for (; status.state === 'running'; await sleep(20)) status = await executor.status(JOB, folder);
  assert.equal(status.state, 'gone');
});
