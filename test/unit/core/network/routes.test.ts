import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http, { Agent, createServer, get, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createNetworkFetch } from '../../../../src/core/network/networkFetch.ts';
import { Routes } from '../../../../src/core/network/routes.ts';
import { ForwardProxy, type ProxyOptions } from '../../../service/support/forwardProxy.ts';
import { rejection } from '../../rejection.ts';

const VARIABLES = ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];

/** Sets the variables of proxies for the time of a test, and no others. */
function setProxies(t: TestContext, variables: Readonly<Record<string, string>>): void {
  const before = VARIABLES.map((name) => [name, process.env[name]] as const);
  t.after(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  for (const name of VARIABLES) delete process.env[name];
  Object.assign(process.env, variables);
}

/** A proxy that all requests use, and a fetch of its own connections. */
async function behindProxy(
  t: TestContext,
  { credentials, ...options }: ProxyOptions & { readonly credentials?: string },
): Promise<{ readonly proxy: ForwardProxy; readonly fetchThrough: typeof fetch }> {
  const proxy = await ForwardProxy.start(credentials === undefined ? options : { credentials, ...options });
  t.after(() => proxy[Symbol.asyncDispose]());
  const url = proxy.url(credentials);
  setProxies(t, { HTTP_PROXY: url, HTTPS_PROXY: url });
  return { proxy, fetchThrough: createNetworkFetch() };
}

async function serve(
  t: TestContext,
): Promise<{ readonly host: string; readonly port: number; readonly asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    response.end('here');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port, asked };
}

test('a plain request through a proxy has its complete address and the password of the proxy', async (t) => {
  const service = await serve(t);
  const { proxy, fetchThrough } = await behindProxy(t, { tunnelTo: service, credentials: 'ada:secret' });
  for (const url of [
    'http://jobs.example.org/v1/me?a=1',
    'http://jobs.example.org:8080/v1/me',
    'http://[2001:db8::1]:8080/v1/me',
  ]) {
    const response = await fetchThrough(url);
    assert.deepEqual([response.status, await response.text()], [200, 'here']);
  }
  assert.deepEqual(proxy.requests, [
    'GET http://jobs.example.org/v1/me?a=1',
    'GET http://jobs.example.org:8080/v1/me',
    'GET http://[2001:db8::1]:8080/v1/me',
  ]);
  assert.deepEqual(
    service.asked.map(({ url, headers }) => [url, headers.host, headers['proxy-authorization']]),
    [
      ['/v1/me?a=1', 'jobs.example.org', undefined],
      ['/v1/me', 'jobs.example.org:8080', undefined],
      ['/v1/me', '[2001:db8::1]:8080', undefined],
    ],
  );
});

test('a proxy that answers in place of the service is named, with what to do', async (t) => {
  const { fetchThrough, proxy } = await behindProxy(t, { refusesWith: 407 });
  const error = await rejection(fetchThrough('http://jobs.example.org/v1/me'));
  assert.equal(error.name, 'ProxyError');
  assert.equal(
    error.message,
    `The proxy ${proxy.address} requires a user name and a password (HTTP 407), so jobs.example.org was not reached. ` +
      'Put USER:PASSWORD@ in front of the address in HTTP_PROXY, with special characters percent-encoded.',
  );
  const other = await behindProxy(t, { refusesWith: 403 });
  assert.equal((await other.fetchThrough('http://jobs.example.org/')).status, 403, 'may be that of the service');
  await assert.rejects(other.fetchThrough('https://jobs.example.org/'), {
    code: 'ERR_PROXY_REFUSED',
    message: /did not connect to jobs\.example\.org:443 \(HTTP 403\)/,
  });
});

test('a secure request goes through a tunnel, in which the certificate counts', async (t) => {
  const folder = join(import.meta.dirname, '../../../fixtures/tls');
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(folder, name)));
  const server = createTlsServer({ key, cert }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { proxy, fetchThrough } = await behindProxy(t, {
    tunnelTo: { host: '127.0.0.1', port },
    credentials: 'ada:pw',
  });
  await assert.rejects(fetchThrough('https://jobs.example.org/v1/me'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  await assert.rejects(fetchThrough('https://[2001:db8::1]:8443/'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  assert.deepEqual([...new Set(proxy.requests)], ['CONNECT jobs.example.org:443', 'CONNECT [2001:db8::1]:8443']);
  await proxy.untilIdle();
});

test('an abort while a proxy is silent closes the connection to it', async (t) => {
  const { proxy, fetchThrough } = await behindProxy(t, { isSilent: true });
  for (const url of ['http://jobs.example.org/', 'https://jobs.example.org/']) {
    const stop = new AbortController();
    const asking = rejection(fetchThrough(url, { signal: stop.signal }));
    await proxy.untilAsked();
    proxy.requests.length = 0;
    stop.abort();
    assert.equal((await asking).name, 'AbortError');
    await proxy.untilIdle();
  }
});

test('a connection through a proxy that is not made in time names it', async (t) => {
  const proxy = await ForwardProxy.start({ isSilent: true });
  t.after(() => proxy[Symbol.asyncDispose]());
  setProxies(t, { https_proxy: proxy.url() });
  await assert.rejects(createNetworkFetch({ connectMs: 50 })('https://jobs.example.org:8443/'), {
    code: 'ETIMEDOUT',
    message:
      `jobs.example.org:8443 was not reached: no connection within 0.05 s through the proxy ${proxy.address}. ` +
      'Check https_proxy and that the proxy works, or add jobs.example.org to NO_PROXY if it can be reached directly.',
  });
});

test('requests of the same route share an agent, and each proxy, each kind of address and this machine have their own', (t) => {
  setProxies(t, { HTTP_PROXY: 'http://one:1', HTTPS_PROXY: 'http://one:1', NO_PROXY: 'direct.example.org' });
  using routes = new Routes();
  const routeTo = (url: string) => routes.to(new URL(url));
  const first = routeTo('https://jobs.example.org/v1/me');
  assert.deepEqual([first.proxy?.address, routeTo('https://other.example.org').agent === first.agent], ['one:1', true]);
  const direct = routeTo('https://direct.example.org');
  const own = routeTo('http://127.0.0.1:4780');
  assert.deepEqual(
    [direct.proxy, own.proxy, routeTo('http://localhost').agent === own.agent],
    [undefined, undefined, true],
  );
  process.env['HTTPS_PROXY'] = 'http://ada@one:1';
  const asAda = routeTo('https://jobs.example.org');
  process.env['HTTPS_PROXY'] = 'http://two:2';
  const second = routeTo('https://jobs.example.org');
  const agents = [first, direct, own, asAda, second, routeTo('http://jobs.example.org')].map(({ agent }) => agent);
  assert.ok(agents.every((agent) => agent instanceof Agent));
  assert.equal(new Set(agents).size, agents.length);
});

test('an agent of the caller makes every connection, and ends with the routes', (t) => {
  setProxies(t, { HTTPS_PROXY: 'http://one:1' });
  const agent = new Agent();
  let ends = 0;
  agent.destroy = () => void (ends += 1);
  const routes = new Routes({ agent });
  for (const url of ['https://jobs.example.org', 'http://127.0.0.1']) {
    assert.deepEqual(routes.to(new URL(url)), { agent, proxy: undefined });
  }
  routes[Symbol.dispose]();
  assert.equal(ends, 1);
});

test('inside VS Code its own agent decides, except for this machine', (t) => {
  setProxies(t, { HTTPS_PROXY: 'http://one:1' });
  const editor = http as unknown as { __vscodeOriginal?: unknown };
  editor.__vscodeOriginal = {};
  t.after(() => delete editor.__vscodeOriginal);
  using routes = new Routes();
  assert.deepEqual(routes.to(new URL('https://jobs.example.org')), { agent: undefined, proxy: undefined });
  assert.ok(routes.to(new URL('https://localhost:4780')).agent instanceof Agent);
});

test('a connection is idle once its response was read, and closed with the routes', async (t) => {
  setProxies(t, {});
  const { port } = await serve(t);
  const routes = new Routes();
  const url = new URL(`http://127.0.0.1:${port}`);
  const { agent } = routes.to(url);
  const request = get(url, { agent });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { socket } = request;
  assert.ok(socket !== null && !routes.idleSockets().has(socket));
  response.resume();
  await once(socket, 'free');
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(routes.idleSockets().has(socket));
  routes[Symbol.dispose]();
  assert.equal(socket.destroyed, true);
});
