import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { programsAreMissing } from '../../scripts/programs.ts';
import { processIdentity } from '../../src/core/processes/processTree.ts';
import { jobFolder } from '../../src/service/jobFiles/jobFolder.ts';
import { Store } from '../../src/service/store/store.ts';
import { GATE, openGate } from './support/gate.ts';
import { type HealthBody, temporaryFolder, testConfig } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
const DAY_SECONDS = 86_400;
// One credit for each second.
const PRICED = {
  ...testConfig(),
  machine_classes: [{ name: 'priced', description: '', credits_per_minute: 60, cpus: 1, memory_gb: 4, gpus: 0 }],
};

/** A service, with its jobs' runners, whose clock can be set; the machine's own stays as it is. */
async function startWithClock(
  t: TestContext,
): Promise<{ service: ServiceProcess; setClock: (offset: number) => void }> {
  const home = await temporaryFolder(t);
  const clock = join(home, 'clock');
  const setClock = (offsetSeconds: number): void =>
    writeFileSync(clock, `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}\n`);
  setClock(0);
  const variables = {
    LD_PRELOAD: LIBRARY,
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_NO_CACHE: '1',
    // The monotonic clock cannot be set on any machine.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DONT_RESET: '1',
    NO_FAKE_STAT: '1',
  };
  const inside = ['env', ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)];
  const service = await ServiceProcess.start(home, { config: PRICED }, { inside });
  t.after(() => service.end('SIGKILL'));
  return { service, setClock };
}

test('jobs are charged for the time that passed, whatever the clock says, and nothing is lost when it is set', async (t) => {
  const missing = await programsAreMissing('libfaketime', { programs: [LIBRARY], packages: ['libfaketime'] });
  if (missing !== undefined) return t.skip(`NO CLOCK: ${missing}`);
  const { service, setClock } = await startWithClock(t);
  const { client } = service;
  const clockOf = async (): Promise<string> =>
    ((await (await fetch(`${client.url}/healthz`)).json()) as HealthBody).parts['clock']?.message ?? '';
  let spent = 0;
  for (const [offset, says] of [
    [DAY_SECONDS, /set ahead by 1 d/],
    [-DAY_SECONDS, /set back by 2 d/],
  ] as const) {
    const beganAt = performance.now();
    const id = await client.submit({ 'a.sh': `echo begun; ${GATE}; echo over` }, { script: 'a.sh', max_runtime: 300 });
    await client.untilRunning(id);
    setClock(offset);
    assert.match(await clockOf(), says);
    await openGate(client.data, id);
    const job = await client.untilEnd(id);
    assert.deepEqual([job.state, await client.output(id)], ['succeeded', 'begun\nover\n']);
    const charged = job.credits_charged ?? Number.NaN;
    const passed = (performance.now() - beganAt) / 1000;
    assert.ok(charged > 0 && charged <= passed, `${charged} credits for at most ${passed} s`);
    spent += charged;
  }

  // A job whose runner is lost is charged by its last sign of life, which the clock must not move either.
  const beganAt = performance.now();
  const id = await client.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh', max_runtime: 300 });
  await client.untilRunning(id);
  const { claim, started } = jobFolder(join(client.data, 'jobs', id));
  while (!existsSync(started)) await client.job(id);
  setClock(DAY_SECONDS);
  assert.match(await clockOf(), /set ahead by 2 d/);
  const { pid } = JSON.parse(readFileSync(claim, 'utf8')) as { pid: number };
  process.kill(pid, 'SIGKILL');
  while (processIdentity(pid) !== undefined);
  const lost = await client.untilEnd(id);
  assert.equal(lost.state, 'lost');
  const passed = (performance.now() - beganAt) / 1000;
  assert.ok((lost.credits_charged ?? Number.NaN) <= passed, `${lost.credits_charged} credits for at most ${passed} s`);
  spent += lost.credits_charged ?? Number.NaN;
  assert.ok(Math.abs((await client.credits()) - (1000 - spent)) < 1e-6);
  await service.end('SIGTERM');
  new Store(client.data).dispose(); // which checks the ledger
});
