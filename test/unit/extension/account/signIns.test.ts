import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redactor } from '../../../../src/core/redact.ts';
import { SignIns } from '../../../../src/extension/account/signIns.ts';

type Secrets = ConstructorParameters<typeof SignIns>[0];

const RECORD = {
  host: 'https://gpu.example.org',
  issuer: 'https://sso.example.org',
  client_id: 'farwharf',
  scopes: ['openid'],
  access_token: 'the-access-token',
  refresh_token: 'the-refresh-token',
  fresh_until: 0,
};

function signInsIn(stored: Map<string, string>, redactor = new Redactor()): SignIns {
  const secrets: Pick<Secrets, 'get' | 'store' | 'delete'> = {
    get: async (name) => stored.get(name),
    store: async (name, value) => void stored.set(name, value),
    delete: async (name) => void stored.delete(name),
  };
  return new SignIns(secrets as Secrets, redactor, '/nowhere');
}

test('a sign-in is returned only for the host that it was made for, also if it was stored under another', async () => {
  const stored = new Map<string, string>();
  const signIns = signInsIn(stored);
  await signIns.set(RECORD);
  assert.deepEqual(await signIns.get(RECORD.host), RECORD);
  for (const other of ['https://gpu.example.org:444', 'http://gpu.example.org', 'https://evil.example.org']) {
    assert.equal(await signIns.get(other), undefined, other);
    stored.set(`farwharf.signIn ${other}`, JSON.stringify(RECORD));
    assert.equal(await signIns.get(other), undefined, other);
  }
  await signIns.delete(RECORD.host);
  assert.equal(await signIns.get(RECORD.host), undefined);
});

test('tokens that were read or stored do not reach the log', async () => {
  const stored = new Map<string, string>();
  const writer = new Redactor();
  await signInsIn(stored, writer).set(RECORD);
  const reader = new Redactor();
  await signInsIn(stored, reader).get(RECORD.host);
  for (const redactor of [writer, reader]) {
    assert.doesNotMatch(redactor.redact('sent the-access-token and the-refresh-token'), /the-access|the-refresh/);
  }
});
