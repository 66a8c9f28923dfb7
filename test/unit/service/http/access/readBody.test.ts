import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { readBody } from '../../../../../src/service/http/access/readBody.ts';

test('a client that stops in the middle of a body is disconnected, and one that has sent it all is not', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sending = request({ port, host: '127.0.0.1', method: 'POST' });
  sending.on('error', () => {});
  t.after(() => sending.destroy());
  sending.write('half of ');
  const [incoming] = (await once(server, 'request')) as [IncomingMessage];
  const reading = readBody(incoming, 1_000);
  assert.ok(Number(incoming.socket.timeout) > 0, 'the connection has a limit while the body is read');
  sending.end('it');
  assert.equal((await reading).toString(), 'half of it');
  assert.equal(incoming.socket.timeout, 0);

  const stalled = request({ port, host: '127.0.0.1', method: 'POST' });
  stalled.on('error', () => {});
  stalled.write('half');
  const [silent] = (await once(server, 'request')) as [IncomingMessage];
  const refused = assert.rejects(readBody(silent, 1_000));
  // What Node does when the time is over.
  silent.socket.emit('timeout');
  await refused;
});
