import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { GATE, openGate } from './support/gate.ts';
import { jobsAtOnce, parseAll, type ServiceClient, startService } from './support/service.ts';

const STALLED = 100;

/** Sends requests over a connection of their own, all before the first response. */
function send(
  { url, key }: ServiceClient,
  requests: readonly { path: string; version?: string; headers?: string }[],
): Socket {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  for (const { path, version = '1.1', headers = '' } of requests) {
    socket.write(`GET ${path} HTTP/${version}\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n${headers}\r\n`);
  }
  return socket;
}

/** The body of a chunked response (RFC 9112, section 7.1). @returns what follows it, too. */
function unchunk(response: string): { readonly body: string; readonly rest: string } {
  let body = '';
  for (let rest = response; ; ) {
    const [line = '', size = ''] = /^([\da-f]+)\r\n/.exec(rest) ?? [];
    assert.notEqual(size, '', `no chunk: ${rest.slice(0, 100)}`);
    const length = Number.parseInt(size, 16);
    body += rest.slice(line.length, line.length + length);
    assert.equal(rest.slice(line.length + length, line.length + length + 2), '\r\n');
    rest = rest.slice(line.length + length + 2);
    if (length === 0) return { body, rest };
  }
}

test('a client of HTTP/1.0, as some proxies are, gets the events without chunks, until the connection ends', async (t) => {
  const service = await startService(t);
  const id = await service.submit({ 'a.sh': `echo één; ${GATE}; echo two` }, { script: 'a.sh' });
  const response = text(send(service, [{ path: `/v1/jobs/${id}/events`, version: '1.0' }]));
  await openGate(service.data, id);
  const [, body = ''] = (await response).split('\r\n\r\n');
  assert.deepEqual(parseAll(body), await service.events(id));
});

test('a stream waits for the responses before it on its connection, which takes another request after its end', async (t) => {
  const service = await startService(t);
  const id = await service.submit({ 'a.sh': 'echo één' }, { script: 'a.sh' });
  await service.untilEnd(id);
  const expected = await service.events(id);
  const path = `/v1/jobs/${id}/events`;
  const socket = send(service, [
    { path },
    { path, headers: 'Accept-Encoding: identity\r\n' },
    { path: `/v1/jobs/${id}`, headers: 'Connection: close\r\n' },
  ]);
  let response = Buffer.from(await text(socket)).toString('latin1');
  for (const _stream of ['first', 'second']) {
    assert.match(response, /^HTTP\/1\.1 200 /);
    const { body, rest } = unchunk(response.slice(response.indexOf('\r\n\r\n') + 4));
    assert.deepEqual(parseAll(Buffer.from(body, 'latin1').toString()), expected);
    response = rest;
  }
  assert.match(response, /^HTTP\/1\.1 200 [^]*"state":"succeeded"/);
});

test(`${STALLED} readers that take nothing hold up neither submissions, nor jobs, nor readers that do`, async (t) => {
  const service = await startService(t, { config: jobsAtOnce(2) });
  const script = `const line = 'x'.repeat(999) + '\\n'; for (let i = 0; i < 8000; i += 1) process.stdout.write(line); setTimeout(() => {}, 1e8)`;
  const loud = await service.submit({ 'a.js': script }, { script: 'a.js' });
  await service.untilRunning(loud);
  const headers = 'Connection: close\r\n';
  const open = (): Socket => send(service, [{ path: `/v1/jobs/${loud}/events`, headers }]);
  const stalled = Array.from({ length: STALLED }, () => open().pause());
  t.after(() => stalled.forEach((socket) => socket.destroy()));
  // All of them have as much as the connection takes.
  const awake = open();
  for (let bytes = 0; bytes < 8_000_000; bytes += ((await once(awake, 'data')) as [Buffer])[0].length);
  awake.destroy();

  const id = await service.submit({ 'a.sh': 'echo done' }, { script: 'a.sh' });
  const events = await service.events(id);
  assert.equal(events.at(-1)?.event, 'end');
  assert.equal(await service.output(id), 'done\n');
  await service.request(`/v1/jobs/${loud}`, { method: 'DELETE' });
  const [first] = stalled;
  assert.ok(first);
  const late = unchunk((await text(first)).split('\r\n\r\n').slice(1).join('\r\n\r\n')).body;
  assert.equal(parseAll(late).at(-1)?.event, 'end');
});
