import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { jobFolder } from '../../src/service/runner/jobFolder.ts';
import { processIdentity } from '../../src/core/processTree.ts';
import type { ServeOptions } from '../../src/service/serveOptions.ts';
import { readArchive } from './support/archive.ts';
import { jobsAtOnce, type ServiceClient, temporaryFolder } from './support/service.ts';
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

const COUNT = 'i=0; while [ $i -lt 40 ]; do echo line $i; i=$((i+1)); sleep 0.05; done; echo made > made.txt';
const COUNTED = Array.from({ length: 40 }, (_, line) => `line ${line}\n`).join('');

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  test(`after ${signal} of the service its jobs go on, and the next one tells all of it once`, async (t) => {
    const home = await temporaryFolder(t);
    const first = await startProcess(t, home, { config: jobsAtOnce(2) });
    const running = await first.client.submit({ 'a.sh': COUNT }, { script: 'a.sh' });
    const short = await first.client.submit({ 'a.sh': 'sleep 0.3; echo short; exit 4' }, { script: 'a.sh' });
    const waiting = await first.client.submit({ 'a.sh': 'echo waited' }, { script: 'a.sh' });
    await first.client.untilRunning(running);
    await first.client.untilRunning(short);
    await first.end(signal);
    await sleep(700);

    const { client } = await startProcess(t, home, { config: jobsAtOnce(2) });
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
  const first = await startProcess(t, home);
  const id = await first.client.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh', max_runtime: 1 });
  await first.client.untilRunning(id);
  const script = pidIn(filesOf(first.client, id).started);
  await first.end('SIGKILL');
  while (processIdentity(script) !== undefined) await sleep(20);
  const { client } = await startProcess(t, home);
  assert.equal((await client.untilEnd(id)).state, 'timed_out');
});

test('a job whose runner is killed is lost, what it left running is ended, and its hold is released', async (t) => {
  const home = await temporaryFolder(t);
  const { client } = await startProcess(t, home);
  const id = await client.submit({ 'a.sh': 'echo before; echo made > made.txt; sleep 600' }, { script: 'a.sh' });
  await client.untilRunning(id);
  const script = pidIn(filesOf(client, id).started);
  while (!readFileSync(filesOf(client, id).output, 'utf8').includes('before')) await sleep(10);
  process.kill(pidIn(filesOf(client, id).claim), 'SIGKILL');
  const job = await client.untilEnd(id);
  assert.equal(job.state, 'lost');
  assert.match(job.reason ?? '', /runner was killed/);
  assert.equal(job.credits_charged, 0);
  assert.equal(processIdentity(script), undefined);
  assert.equal(await client.output(id), 'before\n');
  assert.equal(await client.credits(), 1000);
});

test('a runner that is killed while there is no service is found out by the next one', async (t) => {
  const home = await temporaryFolder(t);
  const first = await startProcess(t, home);
  const id = await first.client.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
  await first.client.untilRunning(id);
  const { claim, started } = filesOf(first.client, id);
  const script = pidIn(started);
  await first.end('SIGKILL');
  process.kill(pidIn(claim), 'SIGKILL');
  const { client } = await startProcess(t, home);
  assert.equal((await client.untilEnd(id)).state, 'lost');
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
