import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { makeAuthority, makeCertificate, opensslIsMissing } from './support/certificate.ts';
import { deadAddress, ForwardProxy } from './support/forwardProxy.ts';
import { temporaryFolder } from './support/service.ts';

const PROGRAM = join(import.meta.dirname, 'support/agentRequests.ts');
const NAME = 'models.farwharf.test';
const EXPECTED = [
  { name: 'model', result: 'Hello.' },
  { name: 'embedding', result: [[1, 2]] },
  { name: 'page', result: 'A page.' },
];

function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  if (request.method === 'GET') return void response.writeHead(200, { 'content-type': 'text/plain' }).end('A page.');
  const message = { role: 'assistant', content: 'Hello.' };
  const body = request.url?.endsWith('/embeddings')
    ? { data: [{ embedding: [1, 2] }] }
    : { choices: [{ index: 0, message, finish_reason: 'stop' }] };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function listen(t: TestContext, server: Server): Promise<{ host: string; port: number }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

async function ask(args: readonly string[], env: Readonly<Record<string, string>>): Promise<unknown[]> {
  const nothing = { http_proxy: '', https_proxy: '', no_proxy: '', HTTP_PROXY: '', HTTPS_PROXY: '', NO_PROXY: '' };
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: '', ...nothing, ...env },
  });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

test('models and pages on this machine are reached beside a dead proxy', async (t) => {
  const { port } = await listen(t, createServer(answer));
  const dead = `http://${await deadAddress()}`;
  const env = { HTTP_PROXY: dead, http_proxy: dead, HTTPS_PROXY: dead, https_proxy: dead, NODE_USE_ENV_PROXY: '1' };
  for (const host of ['127.0.0.1', 'localhost']) {
    assert.deepEqual(await ask([`http://${host}:${port}/v1`, `http://${host}:${port}/page`], env), EXPECTED);
  }
});

test('plain requests to other machines are forwarded by the proxy that HTTP_PROXY names', async (t) => {
  const place = await listen(t, createServer(answer));
  await using proxy = await ForwardProxy.start({ tunnelTo: place, credentials: 'ada:pass' });
  const base = `http://${NAME}`;
  const env = { HTTP_PROXY: proxy.url('ada:pass') };
  assert.deepEqual(await ask([`${base}/v1`, `${base}:8080/page?from=http://here/`], env), EXPECTED);
  assert.deepEqual(proxy.requests, [
    `POST ${base}/v1/chat/completions`,
    `POST ${base}/v1/embeddings`,
    `GET ${base}:8080/page?from=http://here/`,
  ]);
  const refused = await ask([`${base}/v1`, `${base}/page`], { HTTP_PROXY: proxy.url() });
  for (const line of refused) assert.match((line as { error: string }).error, /requires a user name and a password/);
});

test('requests over TLS go through a tunnel, which hides the key, and the own authority is trusted', {
  skip: opensslIsMissing() ?? false,
}, async (t) => {
  const folder = await temporaryFolder(t);
  const authority = makeAuthority(folder, 'company');
  const files = makeCertificate(folder, 'models', { host: NAME, authority });
  const tls = { cert: readFileSync(files.cert), key: readFileSync(files.key) };
  const place = await listen(t, createSecureServer(tls, answer));
  await using proxy = await ForwardProxy.start({ tunnelTo: place });
  const urls = [`https://${NAME}/v1`, `https://${NAME}/page`];
  const env = { HTTPS_PROXY: proxy.url(), NODE_EXTRA_CA_CERTS: authority.cert };
  assert.deepEqual(await ask(urls, env), EXPECTED);
  assert.deepEqual([...new Set(proxy.requests)], [`CONNECT ${NAME}:443`]);
  assert.ok(!proxy.received().includes('the-key-of-the-model'));
  const unindexed = await ask(urls, { HTTPS_PROXY: proxy.url() });
  for (const line of unindexed) assert.match((line as { error: string }).error, /not trusted.*NODE_EXTRA_CA_CERTS/);
});

test('a dead proxy is named in the errors of models and pages', async () => {
  const dead = await deadAddress();
  const lines = await ask([`https://${NAME}/v1`, `http://${NAME}/page`], {
    HTTPS_PROXY: `http://ada:secret@${dead}`,
    HTTP_PROXY: `http://ada:secret@${dead}`,
  });
  assert.equal(lines.length, 3);
  for (const line of lines) {
    assert.match((line as { error: string }).error, new RegExp(`The proxy ${dead} does not answer \\(ECONNREFUSED\\)`));
    assert.doesNotMatch(JSON.stringify(line), /secret/);
  }
});
