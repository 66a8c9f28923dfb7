import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSignInOffer } from '../../../../src/jobs/signIn/signInOffer.ts';

const HOST = 'https://gpu.example.org';
const GOOD = {
  resource: HOST,
  authorization_servers: ['https://sso.example.org'],
  bearer_methods_supported: ['header'],
  scopes_supported: ['openid'],
  client_id: 'farwharf',
};

/** What a client makes of a service that answers this. */
function offerOf(answer: unknown, { host = HOST, status = 200 } = {}) {
  const body = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const fetch = async (): Promise<Response> => new Response(body, { status });
  return readSignInOffer(host, { fetch, signal: new AbortController().signal });
}

test('a service says where people sign in, or that they need keys', async () => {
  assert.deepEqual(await offerOf(GOOD), {
    host: HOST,
    issuer: 'https://sso.example.org',
    client_id: 'farwharf',
    scopes: ['openid'],
  });
  assert.equal(await offerOf({ detail: 'Nothing exists at this address.' }, { status: 404 }), undefined);
  assert.equal(await offerOf('<h1>Welcome</h1>'), undefined);
  assert.equal(await offerOf({ ...GOOD, authorization_servers: [] }), undefined);
});

test('a service that has a problem does not say that people need keys', async () => {
  for (const status of [429, 502, 503]) {
    await assert.rejects(offerOf('<h1>Try later</h1>', { status }), {
      code: 'unreachable',
      message: `gpu.example.org does not respond (HTTP ${status}). Try again later.`,
    });
  }
});

test('a service elsewhere cannot name this machine, or an address without TLS, as the place to sign in', async () => {
  const issuers = [
    'http://sso.example.org',
    'http://127.0.0.1:631',
    'https://localhost:8443',
    'https://[::1]',
    'https://ada:secret@sso.example.org',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'sso.example.org',
    '',
  ];
  for (const issuer of issuers) {
    await assert.rejects(offerOf({ ...GOOD, authorization_servers: [issuer] }), { code: 'refused' }, issuer);
  }
  const local = { ...GOOD, resource: 'http://127.0.0.1:4780', authorization_servers: ['http://127.0.0.1:8080'] };
  assert.equal((await offerOf(local, { host: 'http://127.0.0.1:4780' }))?.issuer, 'http://127.0.0.1:8080');
});

test('a service cannot speak for another address, nor smuggle anything into a request', async () => {
  for (const resource of ['https://other.example.org', `${HOST}/`, 'https://GPU.example.org', `${HOST}.evil.example`]) {
    await assert.rejects(offerOf({ ...GOOD, resource }), /it calls itself/);
  }
  await assert.rejects(offerOf({ ...GOOD, client_id: 'a\r\nb' }), /invalid characters/);
  await assert.rejects(offerOf({ ...GOOD, scopes_supported: ['openid profile'] }), /invalid characters/);
});

test('a service is asked for JSON, until the caller gives up', async () => {
  const asked: unknown[] = [];
  const { signal } = new AbortController();
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    asked.push([String(url), new Headers(init.headers).get('accept'), init.signal === signal]);
    return Response.json(GOOD);
  };
  await readSignInOffer(HOST, { fetch, signal });
  assert.deepEqual(asked, [[`${HOST}/.well-known/oauth-protected-resource`, 'application/json', true]]);
});
