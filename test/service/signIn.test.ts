import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignJWT, UnsecuredJWT } from 'jose';
import { openAdmin } from '../../src/service/admin/adminClient.ts';
import { oidcSettings } from '../../src/service/config/oidcConfig.ts';
import { addAccount } from './support/accounts.ts';
import { CLIENT_ID, type Person, TestProvider } from './support/identityProvider.ts';
import { type HealthBody, type ServiceClient, startService, testConfig } from './support/service.ts';

const AUDIENCE = 'https://gpu.example.org';
const STAFF = { claim: 'groups', values: ['staff'], credits: 50, plan: 'staff' };

interface Settings {
  readonly issuer?: string;
  readonly rules?: readonly object[];
}

/** A service that people of this provider can sign in to. */
function startWith(
  t: TestContext,
  provider: { readonly issuer: string },
  settings: Settings = {},
): Promise<ServiceClient> {
  const oidc = oidcSettings.parse({
    issuer: provider.issuer,
    client_id: CLIENT_ID,
    audience: AUDIENCE,
    rules: [STAFF],
    ...settings,
  });
  return startService(t, { config: { ...testConfig(), oidc } });
}

async function start(t: TestContext, people: Readonly<Record<string, Person>>, settings: Settings = {}) {
  const provider = await TestProvider.start(t, people);
  const service = await startWith(t, provider, settings);
  return { provider, service };
}

async function refusalOf(service: ServiceClient, token: string): Promise<{ status: number; detail: string }> {
  const response = await service.withKey(token).request('/v1/me');
  return { status: response.status, detail: ((await response.json()) as { detail: string }).detail };
}

test('a person who signs in for the first time gets an account by the rules, with an entry in the audit trail', async (t) => {
  const ada: Person = { groups: ['all', 'staff'], username: 'ada', name: 'Ada\u0007 Lovelace\n(admin)' };
  const { provider, service } = await start(t, { 'subject-1': ada });
  const { access_token: token } = await provider.signIn('subject-1', AUDIENCE);
  const me = await service.withKey(token).json('/v1/me');
  assert.deepEqual([me['account_id'], me['plan'], me['credits']], ['ada', 'staff', 50]);

  const again = await provider.signIn('subject-1', AUDIENCE);
  assert.equal((await service.withKey(again.access_token).json('/v1/me'))['credits'], 50, 'credits are granted once');
  using admin = await openAdmin(service.data, { mayCreate: false });
  const account = await admin.call('accounts.show', { account_id: 'ada' });
  assert.equal(account.name, 'Ada Lovelace (admin)');
  assert.deepEqual(account.identity, { issuer: provider.issuer, subject: 'subject-1' });
  const { entries } = await admin.call('audit.list', { account_id: 'ada' });
  assert.deepEqual(
    entries.map(({ verb, outcome }) => [verb, outcome]),
    [['accounts.signIn', 'done']],
  );
});

test('a person can do with an access token what an account can do with a key', async (t) => {
  const { provider, service } = await start(t, { ada: { groups: ['staff'] }, bob: { groups: ['staff'] } });
  const ada = service.withKey((await provider.signIn('ada', AUDIENCE)).access_token);
  const bob = service.withKey((await provider.signIn('bob', AUDIENCE)).access_token);
  const job = await ada.submit({ 'a.sh': 'echo hello' }, { script: 'a.sh' });
  assert.equal((await ada.untilEnd(job)).state, 'succeeded');
  assert.equal(await ada.output(job), 'hello\n');
  assert.equal((await bob.request(`/v1/jobs/${job}`)).status, 404);
});

test('somebody whom no rule admits is refused, from the next token on also after having been admitted', async (t) => {
  const { provider, service } = await start(t, { ada: { groups: ['staff'] }, eve: { groups: ['guests'] } });
  const eve = await refusalOf(service, (await provider.signIn('eve', AUDIENCE)).access_token);
  assert.equal(eve.status, 403);
  assert.match(eve.detail, /may not use this service/);
  const { access_token, refresh_token } = await provider.signIn('ada', AUDIENCE);
  assert.ok((await service.withKey(access_token).request('/v1/me')).ok);
  provider.people.set('ada', { groups: [] });
  const renewed = await provider.token({ grant_type: 'refresh_token', refresh_token, resource: AUDIENCE });
  assert.equal((await refusalOf(service, renewed.access_token)).status, 403);
});

test('the first rule that applies decides about group and credits', async (t) => {
  const rules = [{ claim: 'groups', values: ['students'], group: 'students', credits: 5 }, { credits: 1 }];
  const { provider, service } = await start(t, { stu: { groups: ['students'] }, zoe: {} }, { rules });
  using admin = await openAdmin(service.data, { mayCreate: false });
  await admin.call('groups.add', { name: 'students' });
  for (const [login, group, credits] of [
    ['stu', 'students', 5],
    ['zoe', null, 1],
  ] as const) {
    await service.withKey((await provider.signIn(login, AUDIENCE)).access_token).json('/v1/me');
    const account = await admin.call('accounts.show', { account_id: login });
    assert.deepEqual([account.group, account.credits_available], [group, credits]);
  }
});

test('a claim cannot name the account of the operator or of somebody else, nor be long or unprintable', async (t) => {
  const people: Record<string, Person> = {
    operator: { groups: ['staff'], username: 'local' },
    thief: { groups: ['staff'], username: 'ada' },
    long: { groups: ['staff'], username: 'a'.repeat(10_000) },
    control: { groups: ['staff'], username: 'bob\u0000\u001b[2J' },
    capital: { groups: ['staff'], username: 'Ada' },
    list: { groups: ['staff'], username: ['ada'] },
    prototype: { groups: ['staff'], username: '__proto__' },
  };
  const { provider, service } = await start(t, people);
  const { client: ada } = await addAccount(service, 'ada');
  const details: string[] = [];
  for (const login of Object.keys(people)) {
    const { status, detail } = await refusalOf(service, await provider.sign(provider.goodClaims(login, AUDIENCE)));
    assert.equal(status, 403, `${login}: ${detail}`);
    assert.ok(detail.length < 300 && !/[\u0000-\u001f]/.test(detail), detail);
    details.push(detail);
  }
  assert.match(details[0] ?? '', /operator's account/);
  assert.match(details[1] ?? '', /"ada" exists and is not linked to you/);
  using admin = await openAdmin(service.data, { mayCreate: false });
  const { accounts } = await admin.call('accounts.list', {});
  assert.deepEqual(
    accounts.map(({ account_id: id }) => id),
    ['ada', 'local'],
  );
  await ada.json('/v1/me');

  await t.test('until the operator links the account', async () => {
    await admin.call('accounts.link', { account_id: 'ada', issuer: provider.issuer, subject: 'thief' });
    const token = await provider.sign(provider.goodClaims('thief', AUDIENCE));
    assert.equal((await service.withKey(token).json('/v1/me'))['account_id'], 'ada');
    const twice = { account_id: 'ada', issuer: provider.issuer, subject: 'other' };
    await assert.rejects(admin.call('accounts.link', twice), /linked to another person/);
    await assert.rejects(admin.call('accounts.link', { ...twice, account_id: 'local' }), /Nobody can sign in as/);
    await admin.call('accounts.unlink', { account_id: 'ada' });
    assert.equal((await refusalOf(service, token)).status, 403);
  });
});

test('an account that was renamed at the provider stays the same, and its old name opens nothing', async (t) => {
  const { provider, service } = await start(t, { first: { groups: ['staff'], username: 'ada' } });
  const token = await provider.sign(provider.goodClaims('first', AUDIENCE));
  assert.equal((await service.withKey(token).json('/v1/me'))['account_id'], 'ada');
  provider.people.set('first', { groups: ['staff'], username: 'adaking' });
  provider.people.set('second', { groups: ['staff'], username: 'ada' });
  const renamed = await provider.sign(provider.goodClaims('first', AUDIENCE));
  assert.equal((await service.withKey(renamed).json('/v1/me'))['account_id'], 'ada');
  const other = await refusalOf(service, await provider.sign(provider.goodClaims('second', AUDIENCE)));
  assert.equal(other.status, 403);
});

test('a token that is not for this service, not of this provider or not valid now is refused', async (t) => {
  const { provider, service } = await start(t, { ada: { groups: ['staff'] } });
  const stranger = await TestProvider.start(t, { ada: { groups: ['staff'] } });
  const good = provider.goodClaims('ada', AUDIENCE);
  const now = Math.floor(Date.now() / 1_000);
  const publicKey = new TextEncoder().encode(JSON.stringify(provider.publicJwk));
  const { alg: _alg, kid = '', ...noAlgorithm } = provider.publicJwk;
  const signed = await provider.sign(good);
  const [head = '', , signature = ''] = signed.split('.');
  const changed = Buffer.from(JSON.stringify({ ...good, sub: 'operator' })).toString('base64url');
  const { iat: _iat, ...withoutIssueTime } = good;
  const { exp: _exp, ...withoutEnd } = good;
  const cases: Record<string, [token: string, detail: RegExp]> = {
    'for another service': [await provider.sign({ ...good, aud: 'https://other.example.org' }), /for another service/],
    'for a service with a longer address': [
      await provider.sign({ ...good, aud: `${AUDIENCE}.evil.example` }),
      /another service/,
    ],
    'for the client, as an ID token': [await provider.sign({ ...good, aud: CLIENT_ID }), /for another service/],
    'to another client': [await provider.sign({ ...good, client_id: 'other' }), /another client/],
    'to no client': [await provider.sign({ ...good, client_id: undefined }), /another client/],
    'of another type': [await provider.sign(good, { typ: 'logout+jwt' }), /not an access token/],
    'of another issuer by its own word': [
      await provider.sign({ ...good, iss: stranger.issuer }),
      /another identity provider/,
    ],
    'of another issuer': [await stranger.sign(stranger.goodClaims('ada', AUDIENCE)), /not signed by/],
    'with the ID of our key, signed with another': [await stranger.sign(good, { kid }), /not signed by/],
    'with an unknown key': [await stranger.sign(good, { kid: 'unknown' }), /not signed by/],
    'with a key that it brings along': [
      await stranger.sign(good, { jwk: stranger.publicJwk, jku: `${stranger.issuer}/jwks` }),
      /not signed by/,
    ],
    expired: [await provider.sign({ ...good, iat: now - 600, exp: now - 1 }), /expired/],
    'older than 15 minutes': [await provider.sign({ ...good, iat: now - 901, exp: now + 600 }), /expired/],
    'without an end': [await provider.sign(withoutEnd), /"exp"/],
    'without a beginning': [await provider.sign(withoutIssueTime), /clock|"iat"/],
    'of tomorrow': [await provider.sign({ ...good, iat: now + 86_400, exp: now + 86_700 }), /the clock of/],
    'not valid yet': [await provider.sign({ ...good, nbf: now + 3_600 }), /the clock of/],
    'without a subject': [await provider.sign({ ...good, sub: '' }), /"sub"/],
    'with a subject of 10 KB': [await provider.sign({ ...good, sub: 'a'.repeat(10_000) }), /"sub"/],
    'with control characters in its subject': [await provider.sign({ ...good, sub: 'a\u0000b' }), /"sub"/],
    'without a signature': [new UnsecuredJWT(good).encode(), /./],
    'with the algorithm none and a signature': [
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${changed}.${signature}`,
      /./,
    ],
    'with another payload': [`${head}.${changed}.${signature}`, /not signed by/],
    'signed with the public key as a secret': [
      await new SignJWT(good).setProtectedHeader({ alg: 'HS256', kid }).sign(publicKey),
      /not signed by/,
    ],
    'signed with the modulus as a secret': [
      await new SignJWT(good)
        .setProtectedHeader({ alg: 'HS256', kid })
        .sign(Buffer.from(noAlgorithm.n ?? '', 'base64url')),
      /not signed by/,
    ],
    'that is no token': ['eyJhbGciOiJSUzI1NiJ9.e30.AAAA', /./],
    'with a header that is no JSON': ['eyJ.e30.AAAA', /./],
  };
  for (const [name, [token, pattern]] of Object.entries(cases)) {
    await t.test(`a token ${name}`, async () => {
      const { status, detail } = await refusalOf(service, token);
      assert.equal(status, 401, detail);
      assert.match(detail, pattern);
      assert.ok(!detail.includes(token) && detail.length < 300);
    });
  }
  assert.ok((await service.withKey(signed).request('/v1/me')).ok, 'while a good one is accepted');
  using admin = await openAdmin(service.data, { mayCreate: false });
  assert.equal((await admin.call('accounts.list', {})).accounts.length, 2);
});

test('a token lives for 15 minutes at most, however long the provider would let it', async (t) => {
  const { provider, service } = await start(t, { ada: { groups: ['staff'] } });
  const now = Math.floor(Date.now() / 1_000);
  const signedBefore = (seconds: number): Promise<string> =>
    provider.sign({ ...provider.goodClaims('ada', AUDIENCE), iat: now - seconds, exp: now + 86_400 });
  assert.ok((await service.withKey(await signedBefore(840)).request('/v1/me')).ok);
  // Less than the clocks of provider and service may differ.
  assert.match((await refusalOf(service, await signedBefore(901))).detail, /expired/);
});

test('the stream of a job ends with its token, and a disabled account is refused at once', async (t) => {
  const { provider, service } = await start(t, { ada: { groups: ['staff'] } });
  provider.tokenLife = 3;
  const short = service.withKey((await provider.signIn('ada', AUDIENCE)).access_token);
  const job = await short.submit({ 'a.sh': 'sleep 600' }, { script: 'a.sh' });
  const stream = await short.request(`/v1/jobs/${job}/events`);
  await stream.text();
  assert.match((await refusalOf(service, short.key)).detail, /expired/);

  provider.tokenLife = 300;
  const ada = service.withKey((await provider.signIn('ada', AUDIENCE)).access_token);
  const open = await ada.request(`/v1/jobs/${job}/events`);
  using admin = await openAdmin(service.data, { mayCreate: false });
  await admin.call('accounts.disable', { account_id: 'ada' });
  await open.text();
  const refused = await refusalOf(service, ada.key);
  assert.equal(refused.status, 403);
  assert.match(refused.detail, /ada is disabled/);
  await admin.call('accounts.enable', { account_id: 'ada' });
  await ada.request(`/v1/jobs/${job}`, { method: 'DELETE' });
});

test('a provider that changes its keys is asked for them again', async (t) => {
  const { provider, service } = await start(t, { ada: { groups: ['staff'] } });
  assert.ok((await service.withKey(await provider.sign(provider.goodClaims('ada', AUDIENCE))).request('/v1/me')).ok);
  await provider.changeKeys();
  const token = await provider.sign(provider.goodClaims('ada', AUDIENCE));
  // Not sooner than five seconds after it was last asked.
  for (;;) {
    const response = await service.withKey(token).request('/v1/me');
    await response.text();
    if (response.ok) break;
    assert.equal(response.status, 401);
    await sleep(250);
  }
});

test('tokens with unknown keys do not make the service ask the provider each time', async (t) => {
  const { provider, service } = await start(t, { ada: { groups: ['staff'] } });
  const stranger = await TestProvider.start(t);
  await refusalOf(service, await provider.sign(provider.goodClaims('ada', AUDIENCE), { kid: 'unknown-0' }));
  const before = provider.requests.length;
  for (let index = 0; index < 20; index += 1) {
    const token = await stranger.sign(provider.goodClaims('ada', AUDIENCE), { kid: `unknown-${index}` });
    assert.equal((await refusalOf(service, token)).status, 401);
  }
  assert.ok(provider.requests.length <= before + 2, `${provider.requests.length - before} requests`);
});

/** A server in the place of a provider. */
async function startStandIn(
  t: TestContext,
  answer: (issuer: string) => RequestListener,
): Promise<{ issuer: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const listener = answer(issuer);
  server.on('request', (request, response) => {
    seen.push(request.url ?? '');
    listener(request, response);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { issuer, seen };
}

const WELL_KNOWN = '/.well-known/openid-configuration';

test('a provider that hangs, answers too much, redirects or lies leaves a service that works with keys', async (t) => {
  const inside = await startStandIn(t, () => (_, response) => response.end('{}'));
  const metadata = (issuer: string, more: object = {}) =>
    JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks`, ...more });
  const json = { 'content-type': 'application/json' };
  const kinds: Record<string, (issuer: string) => RequestListener> = {
    hangs: () => () => {},
    'sends its headers and hangs': () => (_, response) => void response.writeHead(200, json).write('{'),
    'answers 10 MB': () => (_, response) =>
      void response.writeHead(200, json).end(`{"issuer":"${'x'.repeat(10_000_000)}"}`),
    'redirects to another address': () => (_, response) =>
      void response.writeHead(302, { location: `${inside.issuer}/secret` }).end(),
    'redirects for its keys': (issuer) => (request, response) =>
      request.url === WELL_KNOWN
        ? void response.writeHead(200, json).end(metadata(issuer))
        : void response.writeHead(302, { location: `${inside.issuer}/secret` }).end(),
    'calls itself another': () => (_, response) =>
      void response.writeHead(200, json).end(metadata('https://sso.example.org')),
    'has its keys in a file': (issuer) => (_, response) =>
      void response.writeHead(200, json).end(metadata(issuer, { jwks_uri: 'file:///etc/passwd' })),
    'has its keys without TLS': (issuer) => (_, response) =>
      void response.writeHead(200, json).end(metadata(issuer, { jwks_uri: 'http://169.254.169.254/latest' })),
    'has no keys': (issuer) => (request, response) =>
      void response.writeHead(200, json).end(request.url === WELL_KNOWN ? metadata(issuer) : '{"keys":[]}'),
    'has keys that are none': (issuer) => (request, response) =>
      void response
        .writeHead(200, json)
        .end(request.url === WELL_KNOWN ? metadata(issuer) : '{"keys":[{"kty":"RSA","kid":"k"}]}'),
    'answers with a page': () => (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hello</h1>'),
    fails: () => (_, response) => void response.writeHead(500).end(),
  };
  const donor = await TestProvider.start(t, { ada: { groups: ['staff'] } });
  await Promise.all(
    Object.entries(kinds).map(([name, answer]) =>
      t.test(`a provider that ${name}`, async (t) => {
        const standIn = await startStandIn(t, answer);
        const service = await startWith(t, standIn);
        assert.ok((await service.request('/v1/me')).ok, 'keys work');
        const token = await donor.sign({ ...donor.goodClaims('ada', AUDIENCE), iss: standIn.issuer }, { kid: 'k' });
        const { status, detail } = await refusalOf(service, token);
        assert.ok(status === 503 || status === 401, detail);
        if (status === 503) {
          assert.match(detail, /identity provider does not answer/);
          const { status: health, parts } = (await (await fetch(`${service.url}/healthz`)).json()) as HealthBody;
          assert.deepEqual([health, parts['sign_in']?.status], ['degraded', 'degraded']);
        }
        assert.ok((await service.request('/v1/me')).ok, 'keys still work');
      }),
    ),
  );
  assert.deepEqual(inside.seen, [], 'no redirect was followed');
});

test('a service starts while its provider is away, and people can sign in once it is back', async (t) => {
  let isUp = false;
  const provider = await TestProvider.start(t, { ada: { groups: ['staff'] } });
  const relay = async (issuer: string, path: string, response: ServerResponse): Promise<void> => {
    const answer = await fetch(provider.issuer + path);
    const text = (await answer.text()).replaceAll(provider.issuer, issuer);
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text);
  };
  const proxy = await startStandIn(t, (issuer) => (request, response) => {
    if (isUp) void relay(issuer, request.url ?? '', response);
    else response.writeHead(503).end();
  });
  const service = await startWith(t, proxy);
  const token = await provider.sign({ ...provider.goodClaims('ada', AUDIENCE), iss: proxy.issuer });
  assert.equal((await refusalOf(service, token)).status, 503);
  isUp = true;
  for (;;) {
    const response = await service.withKey(token).request('/v1/me');
    await response.text();
    if (response.ok) break;
    assert.equal(response.status, 503);
    await sleep(250);
  }
  const { parts } = (await (await fetch(`${service.url}/healthz`)).json()) as HealthBody;
  assert.equal(parts['sign_in']?.status, 'ok');
});

test('clients learn where people sign in, and that a service without a provider needs keys', async (t) => {
  const { provider, service } = await start(t, {});
  const path = '/.well-known/oauth-protected-resource';
  assert.deepEqual(await (await fetch(service.url + path)).json(), {
    resource: AUDIENCE,
    authorization_servers: [provider.issuer],
    bearer_methods_supported: ['header'],
    scopes_supported: ['openid', 'offline_access'],
    client_id: CLIENT_ID,
  });
  const plain = await startService(t);
  assert.equal((await fetch(plain.url + path)).status, 404);
  const token = await provider.sign(provider.goodClaims('ada', AUDIENCE));
  assert.deepEqual(await refusalOf(plain, token), { status: 401, detail: 'Invalid or revoked API key.' });
});

test('wrong keys from an address do not lock out the people there who sign in', async (t) => {
  const { provider, service } = await start(t, { ada: { groups: ['staff'] } });
  for (let index = 0; index < 40; index += 1) await refusalOf(service, `fw_wrong-${index}`);
  assert.equal((await refusalOf(service, 'fw_another')).status, 429);
  const token = await provider.sign(provider.goodClaims('ada', AUDIENCE));
  assert.ok((await service.withKey(token).request('/v1/me')).ok);
});
