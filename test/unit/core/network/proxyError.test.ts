import assert from 'node:assert/strict';
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
  assert.match(answerOfProxy(undefined, 407, { url, proxy: PROXY })?.message ?? '', /proxy\.example\.org:3128/);
  assert.match(answerOfProxy(undefined, 407, { url, proxy: undefined })?.message ?? '', /http\.proxy/);
  assert.equal(answerOfProxy(undefined, 403, { url, proxy: PROXY }), undefined);
});
