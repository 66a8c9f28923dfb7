import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { AccessTokens } from '../../../../src/jobs/signIn/accessTokens.ts';
import { endSignIn } from '../../../../src/jobs/signIn/endSignIn.ts';
import { SignInFile } from '../../../../src/jobs/signIn/signInFile.ts';
import { newSignIn, type SignInRecord } from '../../../../src/jobs/signIn/signInRecord.ts';
import { tempHome } from '../fixtures.ts';
import { type Answer, accessToken, HOST, startProvider } from './scriptedProvider.ts';

const OLD = accessToken(HOST, { jti: 'old' });
const NEW = accessToken(HOST, { jti: 'new' });
const RENEWED: Answer = [200, { access_token: NEW, token_type: 'bearer', expires_in: 300, refresh_token: 'r2' }];
const ENDED = 'Your sign-in to gpu.example.org has ended. Sign in again.';

/** A stored sign-in whose access token is fresh or has to be renewed, at a provider that answers so. */
async function start(t: TestContext, answer: Answer, record: Partial<SignInRecord> = {}) {
  const provider = await startProvider(t, { token: () => answer, revoke: () => [200, {}] });
  const home = tempHome(t);
  const file = new SignInFile(HOST, home);
  const stored = { ...provider.offer, access_token: OLD, refresh_token: 'r1', fresh_until: 0, ...record };
  await file.write(stored);
  const open = (): AccessTokens => new AccessTokens(HOST, new SignInFile(HOST, home), 'Sign in again.');
  return { provider, home, file, stored, open, tokens: open() };
}

test('a token is used until it is about to expire, and then renewed by one process at a time', async (t) => {
  const { provider, file, stored, open, tokens } = await start(t, RENEWED);
  await file.write({ ...stored, fresh_until: Date.now() + 3600_000 });
  assert.equal(await tokens.current(), OLD);
  assert.deepEqual(provider.requests, []);

  await file.write(stored);
  const all = [tokens, tokens, open(), open()];
  assert.deepEqual(await Promise.all(all.map((each) => each.current())), [NEW, NEW, NEW, NEW]);
  const refreshing = { client_id: 'client', grant_type: 'refresh_token', refresh_token: 'r1', resource: HOST };
  assert.deepEqual(provider.requests, [['/token', refreshing]]);
  const record = await file.read();
  assert.deepEqual([record?.access_token, record?.refresh_token], [NEW, 'r2']);
});

test('a token that the service refused is renewed, unless another process has done so', async (t) => {
  const { provider, tokens } = await start(t, RENEWED, { fresh_until: Date.now() + 3600_000 });
  assert.equal(await tokens.renew(OLD), true);
  assert.equal(await tokens.renew(OLD), true);
  assert.equal(provider.requests.length, 1);
  assert.equal(await tokens.renew(NEW), false); // the provider gives the same one again
  assert.equal(provider.requests.length, 2);
});

test('a sign-in that the provider or somebody else has ended says how to sign in again', async (t) => {
  const ended = { code: 'not-signed-in', message: ENDED };
  const revoked = await start(t, [400, { error: 'invalid_grant' }]);
  await assert.rejects(revoked.tokens.current(), ended);
  const single = await start(t, RENEWED);
  await single.file.write({ ...single.provider.offer, access_token: OLD, fresh_until: 0 });
  await assert.rejects(single.tokens.current(), ended);
  assert.deepEqual(single.provider.requests, []);
  single.file.remove();
  await assert.rejects(single.tokens.current(), ended);
  await assert.rejects(single.tokens.renew(OLD), ended);
});

test('a provider that refuses for another reason does not end the sign-in', async (t) => {
  const { provider, file, stored, tokens } = await start(t, [400, { error: 'invalid_client' }]);
  await assert.rejects(tokens.current(), {
    code: 'refused',
    message: `The identity provider ${provider.issuer} refused: invalid_client`,
  });
  assert.deepEqual(await file.read(), stored);
  await assert.rejects(tokens.current(), { code: 'refused' });
  assert.equal(provider.requests.length, 2);
});

test('a new record keeps the refresh token that is not replaced, and ends before its token does', () => {
  const offer = { host: HOST, issuer: 'https://sso.example.org', client_id: 'client', scopes: ['openid'] };
  const given = (more: object) => ({ access_token: accessToken(), token_type: 'bearer' as const, ...more });
  const before = { ...offer, access_token: OLD, refresh_token: 'r1', fresh_until: 0 };
  assert.equal(newSignIn(offer, given({}), before).refresh_token, 'r1');
  assert.equal(newSignIn(offer, given({ refresh_token: 'r2' }), before).refresh_token, 'r2');
  assert.ok(!('refresh_token' in newSignIn(offer, given({}))));
  for (const [expiresIn, freshMs] of [
    [undefined, 240_000],
    [600, 540_000],
    [20, 10_000],
    [1e6, 14 * 60_000],
  ] as const) {
    const earliest = Date.now();
    const { fresh_until: until } = newSignIn(offer, given({ expires_in: expiresIn }));
    assert.ok(until >= earliest + freshMs && until <= Date.now() + freshMs, `${expiresIn}`);
  }
});

test('only a token whose audience has this service is taken', () => {
  const offer = { host: HOST, issuer: 'https://sso.example.org', client_id: 'client', scopes: [] };
  const isTaken = (token: string): boolean => {
    try {
      return newSignIn(offer, { access_token: token, token_type: 'bearer' }).access_token === token;
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, 'refused');
      return false;
    }
  };
  for (const audience of [HOST, [HOST], ['https://other.example.org', HOST]]) {
    assert.equal(isTaken(accessToken(audience)), true);
  }
  for (const audience of ['https://other.example.org', [], [[HOST]], `${HOST}/`, null, { [HOST]: 1 }]) {
    assert.equal(isTaken(accessToken(audience)), false);
  }
  const [head = '', payload = ''] = accessToken().split('.');
  for (const token of [
    '',
    'opaque',
    `${head}.${payload}`,
    `${head}.${payload}.x.y`,
    'a.b.c',
    `${head}.bm90IEpTT04.x`,
    // Of no use in a header.
    `${head}.${payload}.x\r\nX-Other: 1`,
    `\u001b[2J${head}.${payload}.x`,
    `é.${payload}.x`,
    `${head}.${payload}.${'x'.repeat(16_000)}`,
  ]) {
    assert.equal(isTaken(token), false, token);
  }
});

test('a sign-in is ended at the provider, if it can be renewed', async (t) => {
  const { provider, stored } = await start(t, RENEWED);
  const { signal } = new AbortController();
  await endSignIn(stored, signal);
  assert.deepEqual(provider.requests, [['/revoke', { client_id: 'client', token: 'r1' }]]);
  await endSignIn({ ...provider.offer, access_token: OLD, fresh_until: 0 }, signal);
  assert.equal(provider.requests.length, 1);
  const without = await startProvider(t, { token: () => RENEWED });
  await endSignIn({ ...stored, ...without.offer }, signal);
  assert.deepEqual(without.requests, []);
  const refusing = await startProvider(t, { revoke: () => [400, { error: 'unsupported_token_type' }] });
  await assert.rejects(endSignIn({ ...stored, ...refusing.offer }, signal), { code: 'refused' });
});

test('a stored sign-in of another host, or one that cannot be read, is none', async (t) => {
  const { home, file, stored } = await start(t, RENEWED);
  const path = join(home, 'signIns', 'gpu.example.org');
  assert.ok(existsSync(path));
  for (const text of ['', 'null', '{}', JSON.stringify({ ...stored, host: 'https://other.example.org' })]) {
    writeFileSync(path, text);
    assert.equal(file.readNow(), undefined);
  }
  writeFileSync(path, JSON.stringify(stored));
  assert.deepEqual(file.readNow(), stored);
  file.remove();
  file.remove();
  assert.equal(existsSync(path), false);
});
