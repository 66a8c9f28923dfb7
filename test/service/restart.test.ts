import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { jobFolder } from '../../src/service/jobFiles/jobFolder.ts';
import { processIdentity } from '../../src/core/processes/processTree.ts';
import type { ServiceConfig } from '../../src/service/serviceConfig.ts';
import type { ServeOptions } from '../../src/service/serveOptions.ts';
import { readArchive } from './support/archive.ts';
import { GATE, openGate } from './support/gate.ts';
import { jobsAtOnce, type ServiceClient, temporaryFolder, testConfig } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

async function startProcess(t: TestContext, home: string, options?: Partial<ServeOptions>): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(home, options);
  t.after(() => service.end('SIGKILL'));
  return service;
}

function filesOf(service: ServiceClient, id: string) {
  return jobFolder(join(service.data, 'jobs', id));
}

function pidIn(path: string): number {
  return (JSON.parse(readFileSync(path, 'utf8')) as { pid: number }).pid;
}

// Lines before the end of the service, without a service, and with the next one.
const COUNT = `for part in 0 1 2; do
  [ $part = 0 ] || { ${GATE}; }
  for line in 0 1 2 3 4 5 6 7 8 9; do echo line $((10 * part + line)); done
done
echo made > made.txt`;
const COUNTED = Array.from({ length: 30 }, (_, line) => `line ${line}\n`).join('');

async function untilWritten(service: ServiceClient, id: string, text: string): Promise<void> {
  while (!readFileSync(filesOf(service, id).output, 'utf8').includes(text)) await sleep(10);
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  test(`after ${signal} of the service its jobs continue, and the next one reports everything once`, async (t) => {
    const home = await temporaryFolder(t);
    const first = await startProcess(t, home, { config: jobsAtOnce(2) });
    const running = await first.client.submit({ 'a.sh': COUNT }, { script: 'a.sh' });
    const short = await first.client.submit({ 'a.sh': `${GATE}; echo short; exit 4` }, { script: 'a.sh' });
    const waiting = await first.client.submit({ 'a.sh': 'echo waited' }, { script: 'a.sh' });
    await first.client.untilRunning(running);
    await first.client.untilRunning(short);
    await untilWritten(first.client, running, 'line 9');
    await first.end(signal);
    await openGate(first.client.data, running);
    await openGate(first.client.data, short);
    await untilWritten(first.client, running, 'line 19');
    while (!existsSync(filesOf(first.client, short).exit)) await sleep(10);

    const { client } = await startProcess(t, home, { config: jobsAtOnce(2) });
    assert.equal((await client.job(running)).state, 'running');
    await openGate(client.data, running);
    assert.equal((await client.untilEnd(running)).state, 'succeeded');
    assert.equal(await client.output(running), COUNTED);
    const results = await client.request(`/v1/jobs/${running}/artifacts`);
    assert.deepEqual(await readArchive(new Uint8Array(await results.arrayBuffer())), { 'made.txt': 'made\n' });
    const failed = await client.untilEnd(short);
    assert.deepEqual([failed.state, failed.exit_code], ['failed', 4]);
    assert.equal(await client.output(short), 'short\n');
    assert.equal((await client.untilEnd(waiting)).state, 'succeeded');
    const ids = (await client.events(running)).map(({ id }) => id);
    assert.deepEqual(
      ids,
      ids.map((_, index) => index + 1),
    );
  });
}

test('the time limit holds while there is no service', async (t) => {
  const home = await temporaryFolder(t);
  // Where the machine is so slow that the limit comes before the service is gone, a longer one is tried.
  for (let limit = 1, hasOutlived = false; !hasOutlived; limit *= 2) {
    const first = await startProcess(t, home);
    const id = await first.client.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh', max_runtime: limit });
    const { started, exit } = filesOf(first.client, id);
    while (!existsSync(started)) await sleep(5);
    const script = pidIn(started);
    await first.end('SIGKILL');
    hasOutlived = processIdentity(script) !== undefined && !existsSync(exit);
    while (processIdentity(script) !== undefined) await sleep(20);
    const next = await startProcess(t, home);
    assert.equal((await next.client.untilEnd(id)).state, 'timed_out');
    await next.end('SIGTERM');
  }
});

// One credit for each second.
const PRICED: ServiceConfig = {
  ...testConfig(),
  machine_classes: [{ name: 'priced', description: '', credits_per_minute: 60, cpus: 1, memory_gb: 4, gpus: 0 }],
};

test('a job whose runner is killed is lost, what it left running is ended, and the time that it ran is charged', async (t) => {
  const home = await temporaryFolder(t);
  const { client } = await startProcess(t, home, { config: PRICED });
  const script = 'echo made > made.txt; sleep 3; echo before; sleep 600';
  const id = await client.submit({ 'a.sh': script }, { script: 'a.sh' });
  const { started_at: startedAt } = await client.untilRunning(id);
  const pid = pidIn(filesOf(client, id).started);
  await untilWritten(client, id, 'before');
  const runner = pidIn(filesOf(client, id).claim);
  process.kill(runner, 'SIGKILL');
  while (processIdentity(runner) !== undefined) await sleep(5);
  const goneAt = Date.now();
  const job = await client.untilEnd(id);
  assert.equal(job.state, 'lost');
  assert.match(job.reason ?? '', /runner was killed.*last sign of life was charged/);
  // The service looks each second whether a runner lives, or less often on a busy machine. The runner's own sign of life comes after five.
  const charged = job.credits_charged ?? 0;
  const longest = (goneAt - Date.parse(startedAt ?? '')) / 1000;
  assert.ok(charged >= 1 && charged <= longest + 0.001, `${charged} credits for at most ${longest} s`);
  assert.equal(processIdentity(pid), undefined);
  assert.equal(await client.output(id), 'before\n');
  assert.ok(Math.abs((await client.credits()) - (1000 - charged)) < 1e-6);
});

test('a runner that is killed while there is no service is found out by the next one, which charges up to its last sign of life', async (t) => {
  const home = await temporaryFolder(t);
  const first = await startProcess(t, home, { config: PRICED });
  const id = await first.client.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
  const { started_at: startedAt } = await first.client.untilRunning(id);
  const { claim, started } = filesOf(first.client, id);
  const script = pidIn(started);
  await first.end('SIGKILL');
  const endedAt = Date.now();
  while (statSync(started).mtimeMs <= endedAt) await sleep(50);
  process.kill(pidIn(claim), 'SIGKILL');
  const lastSign = statSync(started).mtimeMs;
  const { client } = await startProcess(t, home, { config: PRICED });
  const job = await client.untilEnd(id);
  assert.equal(job.state, 'lost');
  const seconds = (lastSign - Date.parse(startedAt ?? '')) / 1000;
  assert.ok(Math.abs((job.credits_charged ?? 0) - seconds) < 0.002, `${job.credits_charged} credits for ${seconds} s`);
  assert.equal(processIdentity(script), undefined);
});

test('a process that was given the number of a job’s script after a restart of the machine is left alone', async (t) => {
  const home = await temporaryFolder(t);
  const { client } = await startProcess(t, home);
  const id = await client.submit({ 'a.sh': 'echo begun; sleep 600' }, { script: 'a.sh' });
  await client.untilRunning(id);
  const bystander = spawn('sleep', ['600'], { stdio: 'ignore', detached: true });
  t.after(() => bystander.kill());
  const { claim, started } = filesOf(client, id);
  const script = JSON.parse(readFileSync(started, 'utf8')) as object;
  writeFileSync(started, JSON.stringify({ ...script, pid: bystander.pid }));
  process.kill(pidIn(claim), 'SIGKILL');
  assert.equal((await client.untilEnd(id)).state, 'lost');
  assert.notEqual(processIdentity(bystander.pid ?? 0), undefined);
});

test('an upload that was cut by the end of the service is swept away', async (t) => {
  const home = await temporaryFolder(t);
  const first = await startProcess(t, home);
  const stop = new AbortController();
  const body = new ReadableStream({
    start: (controller) => {
      const head = '--b\r\nContent-Disposition: form-data; name="tarball"; filename="w.tar.gz"\r\n\r\nbytes';
      controller.enqueue(new TextEncoder().encode(head));
      // What is smaller stays in memory.
      controller.enqueue(new Uint8Array(1_000_000));
    },
  });
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const init = { method: 'POST', body, headers, duplex: 'half', signal: stop.signal } as RequestInit;
  const lost = first.client.request('/v1/jobs', init).catch(() => 'lost');
  const jobs = join(first.client.data, 'jobs');
  while (readdirSync(jobs).length === 0) await sleep(10);
  await first.end('SIGKILL');
  assert.equal(await lost, 'lost');
  const { client } = await startProcess(t, home);
  assert.deepEqual(readdirSync(jobs), []);
  assert.equal(await client.credits(), 1000);
});

test('a second service on the same folder is refused', async (t) => {
  const home = await temporaryFolder(t);
  const { client } = await startProcess(t, home);
  await assert.rejects(ServiceProcess.start(home), /Another job service uses/);
  assert.equal(await client.credits(), 1000);
});

test('a ledger that does not balance is refused at the start, with what is wrong', async (t) => {
  const home = await temporaryFolder(t);
  const first = await startProcess(t, home);
  assert.equal(await first.client.credits(), 1000);
  await first.end('SIGTERM');
  const database = new DatabaseSync(join(first.client.data, 'service.db'));
  assert.throws(() => database.exec('UPDATE credit_entries SET amount = 5'), /append-only/);
  assert.throws(() => database.exec('DELETE FROM credit_entries'), /append-only/);
  database.exec("UPDATE credit_accounts SET balance = balance + 1 WHERE name = 'local:available'");
  database.close();
  await assert.rejects(ServiceProcess.start(home), /does not balance: 1 balances are not the sum/);
});
