import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { processesWith } from '../host/support/keySearch.ts';
import { Scratch } from './commandLine.ts';
import { type ServiceClient, startService } from './support/service.ts';

const KEY_BITS = 256;

interface State {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
}

function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', settle(true)).once('error', settle(false));
  });
}

async function stateOf(service: ServiceClient, job: string): Promise<unknown> {
  const [me, jobs, events] = [await service.json('/v1/me'), await service.json('/v1/jobs'), await service.events(job)];
  return { me, jobs, events };
}

test('the service of this machine listens on one loopback address, under a key that no process shows', async () => {
  await using scratch = await Scratch.create();
  const cwd = await scratch.folder('project', { 'run.sh': 'exit 0' });
  const personal = 'the-remote-key-of-the-person-0123456789';
  const env = { FARWHARF_API_KEY: personal };
  const done = await scratch.run(['submit', '--script', 'run.sh', '--watch'], { cwd, env });
  assert.equal(done.exit, 0, done.stderr);
  const { url, key, pid } = JSON.parse(readFileSync(join(scratch.home, 'service/state.json'), 'utf8')) as State;
  assert.ok(Buffer.from(key, 'base64url').length * 8 >= KEY_BITS, 'as many bits as nobody can try');
  assert.notEqual(key, personal);
  const port = Number(new URL(url).port);
  assert.equal(await isOpen('127.0.0.1', port), true);
  const others = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  for (const { address, scopeid } of others) {
    if (address === '127.0.0.1' || (scopeid ?? 0) !== 0) continue;
    assert.equal(await isOpen(address, port), false, address);
  }
  if (!existsSync('/proc/self/environ')) return;
  assert.deepEqual(await processesWith(key, [process.pid]), []);
  assert.equal(readFileSync(`/proc/${pid}/environ`).includes(personal), false, 'the key of another service');
});

test('no answer is for a web page to read, and nothing that a link or an image can ask for changes anything', async (t) => {
  const service = await startService(t);
  const job = await service.submit({ 'a.sh': 'echo made > made.txt' }, { script: 'a.sh' });
  await service.untilEnd(job);
  const before = await stateOf(service, job);
  const paths = service.routes.map(({ path }) => path.replace(/:\w+/, job));
  for (const path of new Set(paths)) {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const response = await service.request(path, { method });
      await response.body?.cancel();
      const shared = [...response.headers.keys()].filter((name) => name.startsWith('access-control-'));
      assert.deepEqual(shared, [], `${method} ${path}`);
    }
  }
  const preflight = await fetch(`${service.url}/v1/jobs`, {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
  });
  assert.equal(preflight.status, 400);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json']) {
    const headers = { 'content-type': type };
    assert.equal((await service.request('/v1/jobs', { method: 'POST', headers, body: '{}' })).ok, false, type);
  }
  assert.deepEqual(await stateOf(service, job), before);
});
