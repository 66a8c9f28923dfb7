import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, request as requestSecurely } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { ConnectionLimit } from '../../../../../src/service/http/access/connectionLimit.ts';

const TLS = join(import.meta.dirname, '../../../../fixtures/tls');
const MOST = 4;

/** A server with at most four connections. Only those for `/` are answered, and those for `/wait` are from somebody known. */
async function start(t: TestContext, isSecure: boolean) {
  const waiting: ServerResponse[] = [];
  const connections = new ConnectionLimit(MOST);
  const onRequest: RequestListener = (request, response) => {
    if (request.url === '/wait') connections.keep(request);
    if (request.url === '/') response.end('ok');
    else waiting.push(response);
  };
  const [cert, key] = await Promise.all([readFile(join(TLS, 'cert.pem')), readFile(join(TLS, 'key.pem'))]);
  const server = isSecure ? createSecureServer({ cert, key }) : createServer();
  connections.watch(server, onRequest);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  const open = (): Socket => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    return socket;
  };
  const send = (path: string) => {
    const options = { port, host: '127.0.0.1', path, agent: false, ca: cert, rejectUnauthorized: false };
    const sent = (isSecure ? requestSecurely : request)(options);
    sent.end();
    return once(sent, 'response').then(([response]) => text(response as IncomingMessage));
  };
  return { server, open, send, waiting };
}

for (const isSecure of [false, true]) {
  const how = isSecure ? ' over TLS' : '';
  test(`connections without a request give way to new ones${how}, the oldest first`, async (t) => {
    const { open, send, server } = await start(t, isSecure);
    const idle = Array.from({ length: MOST }, open);
    await Promise.all(idle.map((socket) => once(socket, 'connect')));
    const closed = once(idle[0] as Socket, 'close');
    assert.equal(await send('/'), 'ok');
    await closed;
    await Promise.all(Array.from({ length: 5 * MOST }, () => once(open(), 'connect')));
    assert.equal(await send('/'), 'ok');
    const count = await new Promise<number>((resolve) => server.getConnections((_error, open) => resolve(open)));
    assert.ok(count <= MOST, `${count} connections`);
  });

  test(`a connection with a request from somebody known never gives way${how}, and where all have one, a new one is closed`, async (t) => {
    const { open, send, waiting } = await start(t, isSecure);
    const answers = Array.from({ length: MOST }, () => send('/wait'));
    while (waiting.length < MOST) await new Promise(setImmediate);
    await once(open(), 'close');
    for (const response of waiting) response.end('late');
    assert.deepEqual(
      await Promise.all(answers),
      Array.from({ length: MOST }, () => 'late'),
    );
    assert.equal(await send('/'), 'ok');
  });
}

test('a connection with a request from nobody known gives way, however slowly it is sent', async (t) => {
  const { open, send, waiting } = await start(t, false);
  const slow = open().resume();
  slow.write('POST /form HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nk');
  while (waiting.length === 0) await new Promise(setImmediate);
  const closed = once(slow, 'close');
  for (let index = 0; index < MOST; index += 1) await once(open(), 'connect');
  assert.equal(await send('/'), 'ok');
  await closed;
});

test('a connection waits again once its last response is complete', async (t) => {
  const { open, send, waiting } = await start(t, false);
  const used = open();
  used.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /wait HTTP/1.1\r\nHost: x\r\n\r\n');
  while (waiting.length === 0) await new Promise(setImmediate);
  for (let index = 0; index < 2 * MOST; index += 1) await once(open(), 'connect');
  assert.equal(await send('/'), 'ok');
  assert.equal(used.readableEnded, false);
  const closed = once(used.resume(), 'close');
  waiting[0]?.end('done');
  for (let index = 0; index < 2 * MOST; index += 1) await once(open(), 'connect');
  await closed;
});

test('a connection that sends many requests before it has read a response is closed', async (t) => {
  const { open, send, waiting } = await start(t, false);
  const few = open();
  few.write('GET /wait HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(16));
  while (waiting.length < 16) await new Promise(setImmediate);
  const many = open().resume();
  many.write('GET /wait HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100));
  await once(many, 'close');
  assert.ok(waiting.length < 40, `${waiting.length} requests`);
  for (const response of waiting) response.end('late');
  let received = '';
  for await (const chunk of few) if ((received += String(chunk)).split('late').length > 16) break;
  assert.equal(await send('/'), 'ok');
});
