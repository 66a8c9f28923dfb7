import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editorProxyUnreachable } from '../../../../src/core/network/proxyError.ts';

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
