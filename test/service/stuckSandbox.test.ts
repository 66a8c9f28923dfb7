import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { findProgram } from '../../src/core/processes/findProgram.ts';
import { isolateJobs, isolationIsMissing } from './support/isolation.ts';
import { processesWith } from './support/processes.ts';
import { startService, temporaryFolder, testConfig } from './support/service.ts';

const missing = await isolationIsMissing();
// A credit is a second.
const CLASS = { name: 'local', description: '', credits_per_minute: 60, cpus: 1, memory_gb: 2, gpus: 0 };
const skip = missing === undefined ? false : `NO ISOLATION: ${missing}`;

/** Puts a program in the place of bwrap that does something before it prepares the sandbox of a job. */
async function delayBubblewrap(t: TestContext, command: string): Promise<void> {
  isolateJobs();
  const bin = await temporaryFolder(t);
  const path = process.env['PATH'];
  const bwrap = findProgram('bwrap', path ?? '');
  await writeFile(join(bin, 'bwrap'), `#!/bin/sh\n[ "$1" = --json-status-fd ] && ${command}\nexec ${bwrap} "$@"\n`);
  await chmod(join(bin, 'bwrap'), 0o755);
  process.env['PATH'] = `${bin}${delimiter}${path}`;
  t.after(() => (process.env['PATH'] = path));
}

/**
 * bwrap starts a second process of itself, which waits for the first one to prepare its namespace. If the first is killed before, the second
 * waits for ever. This stands in for it at that moment.
 */
test('a sandbox whose runner was killed while it was prepared is ended', { skip }, async (t) => {
  const seconds = `6${process.pid}`;
  await delayBubblewrap(t, `exec sleep ${seconds}`);
  const service = await startService(t, { config: testConfig() });
  const id = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  while (processesWith(`sleep ${seconds}`).length === 0) await service.job(id);
  const claim = await readFile(join(service.data, 'jobs', id, 'claim.json'), 'utf8');
  process.kill((JSON.parse(claim) as { pid: number }).pid, 'SIGKILL');
  assert.equal((await service.untilEnd(id)).state, 'failed');
  assert.deepEqual(processesWith(`sleep ${seconds}`), []);
});

test('the time that a busy machine takes to prepare a sandbox is neither charged nor part of the time limit', {
  skip,
}, async (t) => {
  await delayBubblewrap(t, 'sleep 2');
  const service = await startService(t, { config: { ...testConfig(), machine_classes: [CLASS] } });
  const short = await service.submit({ 'a.sh': 'true' }, { script: 'a.sh' });
  const limited = await service.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh', max_runtime: 1 });
  for (const [id, state] of [
    [short, 'succeeded'],
    [limited, 'timed_out'],
  ] as const) {
    const job = await service.untilEnd(id);
    assert.deepEqual([job.state, /so the service did/.test(job.reason ?? '')], [state, false]);
    const seconds = (Date.parse(job.finished_at ?? '') - Date.parse(job.started_at ?? '')) / 1000;
    assert.ok(seconds >= (id === limited ? 1 : 0), `${seconds} s`);
    assert.ok((job.credits_charged ?? 0) <= seconds + 1, `${job.credits_charged} credits for ${seconds} s`);
  }
  assert.equal((await service.job(limited)).credits_charged, 1);
});
