import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { addAccount } from './support/accounts.ts';
import { startService, temporaryFolder } from './support/service.ts';
import { ServiceProcess } from './support/serviceProcess.ts';

const OPEN_FILES = 400;

const openFilesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

test('anyone who opens connections without a key and sends nothing takes neither files nor connections from others', async (t) => {
  if (process.platform !== 'linux')
    return t.skip('FILES ARE NOT LIMITED: only Linux shows the open files of a process');
  const inside = ['sh', '-c', `ulimit -n ${OPEN_FILES}; exec "$@"`, 'sh'];
  const service = await ServiceProcess.start(await temporaryFolder(t), {}, { inside });
  t.after(() => service.end('SIGKILL'));
  const { client } = service;
  const { hostname, port } = new URL(client.url);
  const others: Socket[] = [];
  t.after(() => others.forEach((socket) => socket.destroy()));
  const open = async (bytes: string): Promise<void> => {
    const socket = connect(Number(port), hostname).on('error', () => {});
    others.push(socket);
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    if (!socket.destroyed) socket.write(bytes);
  };
  // A stream that was there before keeps its connection.
  const id = await client.submit({ 'a.sh': 'echo begun; sleep 1000' }, { script: 'a.sh' });
  const stream = await client.request(`/v1/jobs/${id}/events`);
  for (let index = 0; index < 2 * OPEN_FILES; index += 1) await open(index % 2 === 0 ? '' : 'GET /v1/me HTTP/1.1\r\n');

  assert.equal((await client.request('/v1/me')).status, 200);
  assert.ok(openFilesOf(service.pid) < OPEN_FILES * 0.75, `${openFilesOf(service.pid)} files are open`);
  const [fresh] = (await once(get(`${client.url}/healthz`, { agent: false }), 'response')) as [IncomingMessage];
  assert.equal(fresh.resume().statusCode, 200);
  const other = await client.submit({ 'b.sh': 'echo done' }, { script: 'b.sh' });
  assert.equal(await client.output(other), 'done\n');
  await client.request(`/v1/jobs/${id}`, { method: 'DELETE' });
  assert.match(await stream.text(), /begun[^]*event: end/);
});

test('an account that sends many bodies bit by bit is refused, and takes nothing from another', {
  timeout: 60_000,
}, async (t) => {
  const service = await startService(t);
  const { host, hostname, port } = new URL(service.url);
  const { client: other } = await addAccount(service, 'other');
  const { client: eve } = await addAccount(service, 'eve');
  const sockets: Socket[] = [];
  const refusals: string[] = [];
  const { promise: refused, resolve } = Promise.withResolvers<void>();
  for (let index = 0; index < 40; index += 1) {
    const socket = connect(Number(port), hostname).on('error', () => {});
    sockets.push(socket);
    socket.once('data', (bytes: Buffer) => {
      if (refusals.push(String(bytes)) === 8) resolve();
    });
    const route = index % 2 === 0 ? 'POST /v1/contents/lacking' : 'PUT /v1/secrets/A';
    const headers = `Host: ${host}\r\nAuthorization: Bearer ${eve.key}\r\nContent-Length: 100000`;
    socket.write(`${route} HTTP/1.1\r\n${headers}\r\n\r\n{`);
  }
  await refused;
  const answer = await other.request('/v1/contents/lacking', { method: 'POST', body: new Uint8Array(32) });
  for (const socket of sockets) socket.destroy(); // the service waits for open requests before it stops
  assert.equal(answer.status, 200);
  assert.equal(refusals.length, 8);
  for (const refusal of refusals)
    assert.match(refusal, /^HTTP\/1\.1 429 [^]*The account may have 32 requests with a body open at once/);
});
