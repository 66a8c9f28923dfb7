import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import {
  answerOfProxy,
  editorProxyUnreachable,
  proxyRefused,
  proxyTimedOut,
  proxyUnreachable,
} from '../../../../src/core/network/proxyError.ts';
import type { Proxy } from '../../../../src/core/network/proxy.ts';

const HOST = 'jobs.example.org:8443';
const PROXY: Proxy = {
  host: 'proxy.example.org',
  port: 3128,
  isSecure: false,
  authorization: undefined,
  address: 'proxy.example.org:3128',
  setting: 'HTTPS_PROXY',
};

test("an error of VS Code's own proxy agent names the proxy, without its password, and the setting", () => {
  const reported = new Error(
    'Failed to establish a socket connection to proxies: PROXY ada:secret@proxy.example.org:3128; DIRECT',
  );
  const error = editorProxyUnreachable(reported, 'jobs.example.org');
  assert.equal(error?.code, 'ERR_PROXY_UNREACHABLE');
  assert.match(
    error?.message ?? '',
    /^The proxy proxy\.example\.org:3128 does not answer, so jobs\.example\.org .*http\.proxy/,
  );
  assert.doesNotMatch(error?.message ?? '', /secret/);
});

test('any other error is not that of a proxy', () => {
  assert.equal(editorProxyUnreachable(new Error('connect ECONNREFUSED 127.0.0.1:9'), 'jobs.example.org'), undefined);
});

test('a proxy that requires a password and one that does not accept it have different errors', () => {
  const asking = proxyRefused(PROXY, HOST, 407);
  assert.match(asking.message, /requires a user name and a password \(HTTP 407\).*USER:PASSWORD@.*HTTPS_PROXY/);
  const refusing = proxyRefused({ ...PROXY, authorization: 'Basic YWRhOnNlY3JldA==' }, HOST, 407);
  assert.match(refusing.message, /does not accept the user name and password in HTTPS_PROXY \(HTTP 407\)/);
  for (const { code, message, syscall } of [asking, refusing]) {
    assert.deepEqual([code, syscall], ['ERR_PROXY_REFUSED', 'connect']);
    assert.doesNotMatch(message, /YWRh/);
  }
});

test('a proxy that may not connect to the service is reported with its status, and the host without its port', () => {
  const { message } = proxyRefused(PROXY, HOST, 403);
  assert.match(message, /did not connect to jobs\.example\.org:8443 \(HTTP 403\)\. Ask who runs the proxy/);
  assert.match(message, /add jobs\.example\.org to NO_PROXY/);
});

test('a proxy that cannot be reached keeps the code of the system and the cause', () => {
  const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const error = proxyUnreachable(PROXY, HOST, cause);
  assert.deepEqual([error.code, error.cause], ['ECONNREFUSED', cause]);
  assert.match(error.message, /^The proxy proxy\.example\.org:3128 does not answer \(ECONNREFUSED\)/);
  const broken = proxyUnreachable(PROXY, HOST, new Error('closed early'));
  assert.equal(broken.code, 'ERR_PROXY_UNREACHABLE');
  assert.match(broken.message, /\(closed early\)/);
});

test('a proxy that takes too long is named with the limit in seconds', () => {
  const { code, message } = proxyTimedOut(PROXY, HOST, 1_500);
  assert.equal(code, 'ETIMEDOUT');
  assert.match(message, /no connection within 1\.5 s through the proxy proxy\.example\.org:3128\. Check HTTPS_PROXY/);
});

test('a 407 is the answer of a proxy, and any other status that of the service', () => {
  const url = new URL(`https://${HOST}/v1/jobs`);
  assert.match(
    answerOfProxy(undefined, 407, { url, proxy: PROXY, isEditors: false })?.message ?? '',
    /proxy\.example\.org:3128/,
  );
  assert.match(answerOfProxy(undefined, 407, { url, proxy: undefined, isEditors: true })?.message ?? '', /http\.proxy/);
  assert.equal(answerOfProxy(undefined, 403, { url, proxy: PROXY, isEditors: false }), undefined);
});

test('each failure of a proxy is one sentence about it, one about the service, and what to do', () => {
  const direct = 'or add jobs.example.org to NO_PROXY if it can be reached directly';
  const withPassword = { ...PROXY, authorization: 'Basic x' };
  const form = 'USER:PASSWORD@ in front of the address in HTTPS_PROXY, with special characters percent-encoded';
  const cases: readonly (readonly [Error | undefined, string])[] = [
    [
      proxyUnreachable(PROXY, HOST, new Error('closed')),
      `The proxy proxy.example.org:3128 does not answer (closed), so ${HOST} was not reached. Check HTTPS_PROXY and that the proxy is running, ${direct}.`,
    ],
    [
      proxyRefused(PROXY, HOST, 502),
      `The proxy proxy.example.org:3128 did not connect to ${HOST} (HTTP 502). Ask who runs the proxy to allow ${HOST}, ${direct}.`,
    ],
    [
      proxyRefused(PROXY, HOST, 407),
      `The proxy proxy.example.org:3128 requires a user name and a password (HTTP 407), so ${HOST} was not reached. Put ${form}.`,
    ],
    [
      proxyRefused(withPassword, HOST, 407),
      `The proxy proxy.example.org:3128 does not accept the user name and password in HTTPS_PROXY (HTTP 407), so ${HOST} was not reached. Correct ${form}.`,
    ],
    [
      proxyTimedOut(PROXY, HOST, 10_000),
      `${HOST} was not reached: no connection within 10 s through the proxy proxy.example.org:3128. Check HTTPS_PROXY and that the proxy works, ${direct}.`,
    ],
    [
      editorProxyUnreachable(
        new Error('Failed to establish a socket connection to proxies: HTTPS p.org:1; DIRECT'),
        HOST,
      ),
      `The proxy p.org:1 does not answer, so ${HOST} was not reached. Check VS Code's setting http.proxy and that the proxy is running, or add ${HOST} to http.noProxy.`,
    ],
    [
      answerOfProxy(undefined, 407, { url: new URL(`https://${HOST}`), proxy: undefined, isEditors: true }),
      `The proxy requires a user name and a password (HTTP 407), so ${HOST} was not reached. Add them to VS Code's setting http.proxy.`,
    ],
  ];
  for (const [error, message] of cases) assert.equal(error?.message, message);
  assert.equal('cause' in proxyRefused(PROXY, HOST, 502), false);
  assert.equal(proxyTimedOut(PROXY, 'a.org', 1).message.includes('add a.org to'), true);
});

test('a response in the clear to a secure request is that of a proxy, and one to a plain request that of the service', async (t) => {
  const server = createServer((_request, response) => response.writeHead(403).end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  await once(request, 'response');
  const answerTo = (url: string): string | undefined =>
    answerOfProxy(request, 403, { url: new URL(url), proxy: undefined, isEditors: true })?.message;
  assert.equal(answerTo('http://a.org'), undefined);
  assert.equal(
    answerTo('https://a.org'),
    "The proxy did not connect to a.org (HTTP 403). Ask who runs the proxy to allow a.org, or add it to VS Code's setting http.noProxy.",
  );
  const secure = { url: new URL('https://a.org'), proxy: PROXY, isEditors: false };
  assert.match(
    answerOfProxy(request, 403, secure)?.message ?? '',
    /^The proxy proxy\.example\.org:3128 did not connect to a\.org/,
  );
  request.destroy();
});
