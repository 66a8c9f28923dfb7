import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { AppError } from '../../../../src/core/errors.ts';
import { createBoundedFetch } from '../../../../src/core/network/boundedFetch.ts';
import { discoverProvider } from '../../../../src/core/network/discovery.ts';
import { isProviderUrl } from '../../../../src/core/network/providerRules.ts';
import { rejection } from '../../rejection.ts';

async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('tokens are sent to https URLs, and without TLS to this machine only', () => {
  for (const url of [
    'https://a.example.org',
    'https://a/b?c',
    'http://127.0.0.1:1',
    'http://localhost/',
    'http://[::1]',
  ]) {
    assert.equal(isProviderUrl(url), true, url);
  }
  for (const url of [
    '',
    'a.example.org',
    'http://a.example.org',
    'ftp://127.0.0.1',
    'file:///etc/passwd',
    'https://ada@a.example.org',
    'https://:secret@a.example.org',
    'https://a.example.org/#x',
  ]) {
    assert.equal(isProviderUrl(url), false, url);
  }
});

test('a response of an identity provider arrives whole, up to a size', async (t) => {
  const url = await listen(t, (request, response) => {
    if (request.url === '/none') response.writeHead(204).end();
    else response.writeHead(418, { 'x-a': 'b' }).end('x'.repeat(Number(request.url?.slice(1))));
  });
  const fetch = createBoundedFetch({ maxBytes: 100_000 });
  const whole = await fetch(`${url}/100000`);
  assert.deepEqual([whole.status, whole.headers.get('x-a')], [418, 'b']);
  assert.equal(await whole.text(), 'x'.repeat(100_000));
  const none = await fetch(new URL(`${url}/none`));
  assert.deepEqual([none.status, await none.text()], [204, '']);
  const { host } = new URL(url);
  await assert.rejects(fetch(`${url}/100001`), { code: 'refused', message: `${host} sent more than 100000 bytes.` });
  assert.equal((await (await createBoundedFetch()(`${url}/1000000`)).text()).length, 1_000_000);
  await assert.rejects(createBoundedFetch()(`${url}/1000001`), { code: 'refused' });
});

test('a redirect of an identity provider is not followed', async (t) => {
  const seen: (string | undefined)[] = [];
  const url = await listen(t, (request, response) => {
    seen.push(request.url);
    response.writeHead(Number(request.url?.slice(1)), { location: '/200' }).end();
  });
  for (const status of [300, 302, 307, 399]) {
    await assert.rejects(createBoundedFetch()(`${url}/${status}`), {
      code: 'refused',
      message: `${new URL(url).host} redirects to another address, which was not followed.`,
    });
  }
  assert.equal((await createBoundedFetch()(`${url}/400`)).status, 400);
  assert.deepEqual(seen, ['/300', '/302', '/307', '/399', '/400']);
});

test('an identity provider that does not respond in time is named, and an abort is not its fault', async (t) => {
  const url = await listen(t, (request, response) => {
    if (request.url === '/body') response.writeHead(200).write('x');
  });
  const fetch = createBoundedFetch({ timeoutMs: 200 });
  for (const path of ['/head', '/body']) {
    await assert.rejects(fetch(url + path), {
      code: 'unreachable',
      message: `${new URL(url).host} did not respond within 0.2 s.`,
    });
  }
  await assert.rejects(fetch(url, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  const closed = await listen(t, (request) => request.socket.destroy());
  assert.ok(!((await rejection(createBoundedFetch()(closed))) instanceof AppError));
});

test('the metadata of a provider is used only if it is its own and has addresses to which tokens may be sent', async (t) => {
  let answer: (issuer: string) => unknown = () => undefined;
  let status = 200;
  const issuer: string = await listen(t, (_request, response) => {
    const value = answer(issuer);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof value === 'string' ? value : JSON.stringify(value));
  });
  const settings = { fetch: createBoundedFetch() };
  const unusable = (why: RegExp) => ({
    code: 'refused',
    message: new RegExp(
      `^The identity provider ${issuer}/? cannot be used: ${why.source}\\. Its metadata is at ${issuer}/\\.well-known/openid-configuration\\.$`,
    ),
  });
  answer = () => ({ issuer, token_endpoint: `${issuer}/t`, jwks_uri: 'https://keys.example.org' });
  assert.equal((await discoverProvider(issuer, settings)).token_endpoint, `${issuer}/t`);
  for (const name of [
    'authorization_endpoint',
    'device_authorization_endpoint',
    'jwks_uri',
    'revocation_endpoint',
    'token_endpoint',
  ]) {
    answer = () => ({ issuer, [name]: 'http://169.254.169.254/x' });
    await assert.rejects(discoverProvider(issuer, settings), unusable(RegExp(`its ${name} is not an https URL`)));
  }
  answer = () => ({ issuer: 'https://other.example.org' });
  await assert.rejects(discoverProvider(issuer, settings), unusable(/its metadata is not that of this issuer \(.+\)/));
  answer = () => ({ issuer: `${issuer}/` });
  await assert.rejects(discoverProvider(issuer, settings), unusable(RegExp(`it calls itself ${issuer}/`)));
  answer = () => '<h1>Hello</h1>';
  await assert.rejects(discoverProvider(issuer, settings), unusable(/its metadata is not that of this issuer \(.+\)/));
  status = 404;
  await assert.rejects(discoverProvider(issuer, settings), unusable(/its metadata has the status 404/));
});

test('a provider with TLS names no address without it, not even on this machine', async () => {
  const issuer = 'https://sso.example.org';
  const answering = (endpoint: string) => ({
    fetch: async () => Response.json({ issuer, token_endpoint: endpoint }),
  });
  await discoverProvider(issuer, answering('https://127.0.0.1/t'));
  await assert.rejects(discoverProvider(issuer, answering('http://127.0.0.1/t')), {
    code: 'refused',
    message: /its token_endpoint is not an https URL/,
  });
});

test('a provider that cannot be reached is named, with the reason', async (t) => {
  const issuer = await listen(t, (_request, response) => response.writeHead(302, { location: '/x' }).end());
  await assert.rejects(discoverProvider(issuer, { fetch: createBoundedFetch() }), {
    code: 'refused',
    message: /^The identity provider \S+ cannot be reached: \S+ redirects to another address/,
  });
  const failing = async (): Promise<never> => {
    throw new Error('no route');
  };
  await assert.rejects(discoverProvider(issuer, { fetch: failing }), {
    code: 'unreachable',
    message: `The identity provider ${issuer} cannot be reached: no route`,
  });
  const signal = AbortSignal.abort(new Error('enough'));
  await assert.rejects(discoverProvider(issuer, { fetch: failing, signal }), /^Error: enough$/);
});
