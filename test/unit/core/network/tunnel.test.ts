import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import type { Proxy } from '../../../../src/core/network/proxy.ts';
import { ProxyError } from '../../../../src/core/network/proxyError.ts';
import { rejection } from '../../rejection.ts';
import { connected, connectToProxy, openProxyTunnel } from '../../../../src/core/network/agents.ts';

const TARGET = 'jobs.example.org:443';

/** The address of a server as that of a proxy. It ends with the test, with all its connections. */
async function asProxy(t: TestContext, server: Server, options: Partial<Proxy> = {}): Promise<Proxy> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => void sockets.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const address = `127.0.0.1:${port}`;
  return {
    host: '127.0.0.1',
    port,
    address,
    isSecure: false,
    authorization: undefined,
    setting: 'HTTPS_PROXY',
    ...options,
  };
}

/** A proxy that answers each CONNECT with this status, and then repeats what it receives. */
function proxyWith(status: number, asked: IncomingMessage[] = []): Server {
  return createServer().on('connect', (request: IncomingMessage, socket: Socket) => {
    asked.push(request);
    socket.write(`HTTP/1.1 ${status} As you say\r\n\r\n`);
    socket.pipe(socket);
  });
}

test('a tunnel is asked for with its target and the password of the proxy, and carries bytes', async (t) => {
  const asked: IncomingMessage[] = [];
  for (const status of [200, 204, 299]) {
    const proxy = await asProxy(t, proxyWith(status, asked), { authorization: 'Basic YWRhOng=' });
    const tunnel = await openProxyTunnel(proxy, TARGET, t.signal);
    tunnel.write('through');
    const [bytes] = (await once(tunnel, 'data')) as [Buffer];
    assert.equal(bytes.toString(), 'through', String(status));
    tunnel.destroy();
  }
  const [first] = asked;
  assert.deepEqual([first?.method, first?.url, first?.headers.host], ['CONNECT', TARGET, TARGET]);
  assert.equal(first?.headers['proxy-authorization'], 'Basic YWRhOng=');
});

test('any other status is the refusal of the proxy', async (t) => {
  for (const status of [199, 300, 403, 502]) {
    const proxy = await asProxy(t, proxyWith(status));
    await assert.rejects(openProxyTunnel(proxy, TARGET, t.signal), {
      name: 'ProxyError',
      code: 'ERR_PROXY_REFUSED',
      message: new RegExp(`^The proxy ${proxy.address} did not connect to ${TARGET} \\(HTTP ${status}\\)`),
    });
  }
});

test('a proxy that is gone, hangs up, or speaks another protocol is named', async (t) => {
  const gone = createTcpServer();
  const nowhere = await asProxy(t, gone);
  gone.close();
  await assert.rejects(openProxyTunnel(nowhere, TARGET, t.signal), { name: 'ProxyError', code: 'ECONNREFUSED' });
  const hangsUp = await asProxy(
    t,
    createTcpServer((socket) => socket.resume().end()),
  );
  await assert.rejects(openProxyTunnel(hangsUp, TARGET, t.signal), { name: 'ProxyError', code: 'ECONNRESET' });
  const withoutTls = await asProxy(
    t,
    createTcpServer((socket) => socket.end('220 mail.example.org\r\n')),
    {
      isSecure: true,
    },
  );
  await assert.rejects(connectToProxy(withoutTls, TARGET, t.signal), (error) => {
    assert.ok(error instanceof ProxyError);
    return error.message.startsWith(`The proxy ${withoutTls.address} does not answer`);
  });
});

test('a proxy with an untrusted certificate is an error of its certificate', async (t) => {
  const folder = join(import.meta.dirname, '../../../fixtures/tls');
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name)));
  const proxy = await asProxy(t, createTlsServer({ key, cert }), { isSecure: true });
  await assert.rejects(connectToProxy(proxy, TARGET, t.signal), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
});

test('an abort while a proxy is silent is an abort, and closes the connection', async (t) => {
  for (const isSecure of [true, false]) {
    const server = createTcpServer({ allowHalfOpen: false }, (socket) => socket.resume());
    const proxy = await asProxy(t, server, { isSecure });
    const stop = new AbortController();
    const reason = new Error('enough');
    const connected = once(server, 'connection') as Promise<[Socket]>;
    const opening = isSecure ? connectToProxy(proxy, TARGET, stop.signal) : openProxyTunnel(proxy, TARGET, stop.signal);
    const rejected = assert.rejects(opening, reason);
    const [socket] = await connected;
    const closed = once(socket, 'close');
    stop.abort(reason);
    await rejected;
    await closed;
  }
});

test('an abort while a proxy connects to the target is an abort', async (t) => {
  const stop = new AbortController();
  const reason = new Error('enough');
  const proxy = await asProxy(
    t,
    createServer().on('connect', () => stop.abort(reason)),
  );
  await assert.rejects(openProxyTunnel(proxy, TARGET, stop.signal), reason);
});

test('an error of the handshake shows that nothing was sent, and no other error does', async (t) => {
  const plain = await asProxy(
    t,
    createTcpServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
  );
  const folder = join(import.meta.dirname, '../../../fixtures/tls');
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name)));
  const untrusted = await asProxy(t, createTlsServer({ key, cert }));
  const errorOf = async ({ host, port }: Proxy) => {
    const socket = connectTls({ host, port });
    const error: NodeJS.ErrnoException = await rejection(connected(socket, 'secureConnect', t.signal));
    assert.equal(socket.destroyed, true);
    return error;
  };
  const handshake = await errorOf(plain);
  assert.match(handshake.code ?? '', /^ERR_SSL_/);
  assert.equal(handshake.syscall, 'connect');
  const { code, syscall } = await errorOf(untrusted);
  assert.deepEqual([code, syscall], ['DEPTH_ZERO_SELF_SIGNED_CERT', undefined]);
});
