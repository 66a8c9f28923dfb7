import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectEmbeddedService, type EmbeddedOptions } from '../../src/service/embedded.ts';
import { processIdentity } from '../../src/core/processes/processTree.ts';
import { GATE, openGate } from './support/gate.ts';
import { parseAll, ServiceClient, temporaryFolder } from './support/service.ts';
import { OPTIONS_FILE } from './support/serviceOptionsFile.ts';
import { PROGRAM } from './support/serviceProcess.ts';

interface State {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
}

function stateOf(home: string): State {
  return JSON.parse(readFileSync(join(home, 'service/state.json'), 'utf8')) as State;
}

/** A home whose service ends with the test. */
function temporaryHome(t: TestContext): Promise<string> {
  return temporaryFolder(t, async (home) => {
    if (!existsSync(join(home, 'service/state.json'))) return;
    const { pid } = stateOf(home);
    if (processIdentity(pid) !== undefined) process.kill(pid, 'SIGTERM');
    while (processIdentity(pid) !== undefined) await sleep(20);
  });
}

function optionsFor(home: string, serve: object = {}): EmbeddedOptions {
  writeFileSync(join(home, OPTIONS_FILE), JSON.stringify(serve), { mode: 0o600 });
  return { home, node: process.execPath, cli: PROGRAM };
}

test('the service is started on demand, announced to this user only, and used by the next caller', async (t) => {
  const home = await temporaryHome(t);
  const options = optionsFor(home);
  const address = await connectEmbeddedService(options);
  assert.equal(await new ServiceClient(address, home).credits(), 1000);
  assert.equal(new URL(address.url).hostname, '127.0.0.1');
  assert.equal(statSync(join(home, 'service/state.json')).mode & 0o777, 0o600);
  assert.equal(statSync(join(home, 'service')).mode & 0o777, 0o700);
  assert.deepEqual(await connectEmbeddedService(options), address);
});

test('the service has no key or token of who starts it', { skip: process.platform !== 'linux' }, async (t) => {
  const home = await temporaryHome(t);
  const env = { ...process.env, AWS_SECRET_ACCESS_KEY: 'a-key-of-a-cloud', FARWHARF_API_KEY: 'a-key-of-a-service' };
  await connectEmbeddedService({ ...optionsFor(home), env });
  const given = readFileSync(`/proc/${stateOf(home).pid}/environ`, 'utf8');
  assert.match(given, /(?:^|\0)PATH=/);
  assert.doesNotMatch(given, /a-key-of/);
});

test('of services that are started at once exactly one remains, and every caller gets it', async (t) => {
  const home = await temporaryHome(t);
  const options = optionsFor(home);
  const addresses = await Promise.all(Array.from({ length: 5 }, () => connectEmbeddedService(options)));
  for (const address of addresses) assert.deepEqual(address, addresses[0]);
  const count = (line: string): number =>
    readFileSync(join(home, 'service/service.log'), 'utf8').split(line).length - 1;
  while (count('Another job service uses') < 4) await sleep(20);
  assert.equal(count('service started'), 1);
});

test('a service that was killed is replaced, and its jobs are still there', async (t) => {
  const home = await temporaryHome(t);
  const options = optionsFor(home);
  const first = new ServiceClient(await connectEmbeddedService(options), home);
  const id = await first.submit({ 'a.sh': `${GATE}; echo survived` }, { script: 'a.sh' });
  const { pid } = stateOf(home);
  process.kill(pid, 'SIGKILL');
  while (processIdentity(pid) !== undefined) await sleep(10);
  const second = new ServiceClient(await connectEmbeddedService(options), home);
  assert.notEqual(second.key, first.key);
  // If the killed service was still writing the workspace, the next one writes it anew, without a gate that was opened before.
  await second.untilRunning(id);
  await openGate(join(home, 'service'), id);
  await second.untilEnd(id);
  assert.equal(await second.output(id), 'survived\n');
});

test('a stranger on the port of a dead service never gets the key', async (t) => {
  const home = await temporaryHome(t);
  const seen: string[] = [];
  const stranger = createServer((request, response) => {
    seen.push(`${request.method} ${request.url?.replace(/=.*/, '')} ${request.headers.authorization ?? 'no key'}`);
    response.end('{"status":"ok","proof":"0000"}');
  }).listen(0, '127.0.0.1');
  await once(stranger, 'listening');
  t.after(() => stranger.close());
  const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  mkdirSync(join(home, 'service'));
  writeFileSync(
    join(home, 'service/state.json'),
    JSON.stringify({ url, key: 'old-key', pid: process.pid, version: '0' }),
  );
  const address = await connectEmbeddedService(optionsFor(home));
  assert.notEqual(address.url, url);
  assert.ok(seen.length > 0 && seen.every((line) => line === 'GET /healthz?nonce no key'), seen.join('\n'));
});

/** Submits a job to a service that ends when it is idle. Where the machine is so slow that it ends before, it waits longer. */
async function submitToIdleService(home: string) {
  for (let idleExitMs = 500; ; idleExitMs *= 2) {
    try {
      const client = new ServiceClient(await connectEmbeddedService(optionsFor(home, { idleExitMs })), home);
      return { client, id: await client.submit({ 'a.sh': GATE }, { script: 'a.sh' }), idleExitMs };
    } catch (error) {
      if (idleExitMs > 60_000) throw error;
    }
  }
}

test('an idle service ends and takes its state file along, but not while a job runs', async (t) => {
  const home = await temporaryHome(t);
  const { client, id, idleExitMs } = await submitToIdleService(home);
  const { pid } = stateOf(home);
  await sleep(2.6 * idleExitMs);
  // An open stream keeps the service too, until all of it was read.
  const stream = await client.request(`/v1/jobs/${id}/events`);
  await openGate(join(home, 'service'), id);
  assert.equal(parseAll(await stream.text()).at(-1)?.data['state'], 'succeeded');
  while (processIdentity(pid) !== undefined) await sleep(20);
  assert.equal(existsSync(join(home, 'service/state.json')), false);
});

test('a service that cannot start says why, with the end of its log', async (t) => {
  const home = await temporaryHome(t);
  const program = join(home, 'broken.mjs');
  writeFileSync(program, "console.error('the reason'); process.exit(1);");
  const options = { home, node: process.execPath, cli: program, startTimeoutMs: 120_000 };
  await assert.rejects(connectEmbeddedService(options), { code: 'unreachable', message: /did not start.*the reason/s });
  await assert.rejects(connectEmbeddedService({ ...options, node: join(home, 'no-such-node') }), {
    code: 'unreachable',
  });
  const signal = AbortSignal.abort();
  await assert.rejects(connectEmbeddedService({ ...options, signal }), { name: 'AbortError' });
});

test('a home that cannot be written is a clear error', async (t) => {
  const file = join(await temporaryFolder(t), 'a-file');
  writeFileSync(file, '');
  const home = join(file, 'home');
  const options = { home, node: process.execPath, cli: PROGRAM, startTimeoutMs: 120_000 };
  await assert.rejects(connectEmbeddedService(options), { code: 'permission' });
});
