import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createNetworkFetch } from '../../../../src/core/network/networkFetch.ts';
import { withGrowingLimit } from '../../timeLimits.ts';

const fetchOverNetwork = createNetworkFetch();

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a response is one of the web, with its body decoded', async (t) => {
  const url = await serve(t, (request, response) => {
    response.writeHead(201, { 'content-encoding': 'gzip', 'x-method': request.method });
    response.end(gzipSync('{"a":1}'));
  });
  const response = await fetchOverNetwork(url, { method: 'POST' });
  assert.ok(response instanceof Response);
  assert.deepEqual([response.status, response.headers.get('x-method')], [201, 'POST']);
  assert.equal(response.headers.get('content-encoding'), null);
  assert.deepEqual(await response.json(), { a: 1 });
});

test('a response without a body has none', async (t) => {
  const url = await serve(t, (_request, response) => void response.writeHead(204).end());
  const { status, body } = await fetchOverNetwork(url);
  assert.deepEqual([status, body], [204, null]);
});

test('a failure is the error of the system, which shows that nothing was sent', async () => {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  await assert.rejects(fetchOverNetwork(`http://127.0.0.1:${port}`), {
    name: 'Error',
    code: 'ECONNREFUSED',
    syscall: 'connect',
  });
});

test('a connection that breaks before a response is the error of the system', async (t) => {
  const url = await serve(t, (request) => void request.socket.destroy());
  await assert.rejects(fetchOverNetwork(url), { name: 'Error', code: 'ECONNRESET' });
});

test('an abort is an abort, before and after the request was sent', async (t) => {
  const controller = new AbortController();
  const url = await serve(t, () => controller.abort());
  await assert.rejects(fetchOverNetwork(url, { signal: controller.signal }), { name: 'AbortError' });
  await assert.rejects(fetchOverNetwork(url, { signal: controller.signal }), { name: 'AbortError' });
});

test('a connection that is not made in time says so', async (t) => {
  // The handshake of TLS never ends with a server that says nothing.
  const server = createTcpServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const hasty = createNetworkFetch({ connectMs: 50 });
  const failure = hasty(`https://127.0.0.1:${port}`);
  await assert.rejects(failure, { code: 'ETIMEDOUT', syscall: 'connect', message: 'no connection within 0.05 s' });
});

test('a request object is refused, because only addresses have a route', async () => {
  await assert.rejects(fetchOverNetwork(new Request('http://127.0.0.1:1')), TypeError);
});

test('responses of these statuses have no body, and others keep their text and headers', async (t) => {
  const url = await serve(t, (request, response) => {
    const status = Number(request.url?.slice(1));
    response.writeHead(status, 'As you say', { 'x-a': '1', 'content-length': '0' }).end();
  });
  for (const status of [204, 205, 304]) {
    const response = await fetchOverNetwork(`${url}/${status}`);
    assert.deepEqual([response.status, response.body], [status, null]);
  }
  const response = await fetchOverNetwork(`${url}/200`);
  assert.deepEqual(
    [response.statusText, response.headers.get('x-a'), response.headers.get('content-length')],
    ['As you say', '1', '0'],
  );
  assert.equal(await response.text(), '');
});

test('the length of a decoded body is not that of the one that was sent', async (t) => {
  const url = await serve(t, (_request, response) => {
    const body = gzipSync('some text');
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length }).end(body);
  });
  const response = await fetchOverNetwork(url);
  assert.deepEqual([response.headers.get('content-length'), await response.text()], [null, 'some text']);
});

test('the limit for a connection ends with the connection, and the wait for a response has none', async (t) => {
  let answerMs = 0;
  const url = await serve(t, (_request, response) => void setTimeout(() => response.end('late'), answerMs));
  await withGrowingLimit(100, async (connectMs) => {
    answerMs = 1.5 * connectMs;
    const hasty = createNetworkFetch({ connectMs });
    assert.equal(await (await hasty(url)).text(), 'late');
    assert.equal(await (await hasty(url)).text(), 'late', 'on the same connection');
  });
});

test('a body that breaks off is the error of the system, not an abort', async (t) => {
  const url = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('part');
    setImmediate(() => response.socket?.resetAndDestroy());
  });
  const response = await fetchOverNetwork(url);
  await assert.rejects(response.text(), ({ name }: Error) => name !== 'AbortError');
});
