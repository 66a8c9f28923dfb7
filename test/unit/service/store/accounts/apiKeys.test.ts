import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasScope, keyDigest, SCOPES } from '../../../../../src/service/store/accounts/apiKeys.ts';
import { Store } from '../../../../../src/service/store/store.ts';

const MINUTE_MS = 60_000;

test('a key is found by its digest alone, and when it was used is kept to the minute', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-keys-'));
  const store = new Store(folder);
  t.after(() => {
    store.dispose();
    rmSync(folder, { recursive: true });
  });
  const { key, secret } = store.keys.add({ account: 'local', label: 'a test', createdAt: 0, expiresAt: null });
  assert.equal(Buffer.from(secret.slice('fw_'.length), 'base64url').length, 32);
  assert.deepEqual(store.keys.find(keyDigest(secret)), key);
  assert.equal(store.keys.find(keyDigest(`${secret}x`)), undefined);
  for (const name of ['service.db', 'service.db-wal']) {
    assert.ok(!readFileSync(join(folder, name)).includes(secret), `${name} has the key`);
  }

  const use = (at: number): number | null => {
    store.keys.noteUse(store.keys.get(key.id), at);
    return store.keys.get(key.id).lastUsedAt;
  };
  const first = 10 * MINUTE_MS;
  assert.equal(use(first), first);
  assert.equal(use(first + MINUTE_MS - 1), first);
  assert.equal(use(first + MINUTE_MS), first + MINUTE_MS);
});

test('keys and ids are never the same twice', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-keys-'));
  const store = new Store(folder);
  t.after(() => {
    store.dispose();
    rmSync(folder, { recursive: true });
  });
  const made = Array.from({ length: 50 }, () =>
    store.keys.add({ account: 'local', label: '', createdAt: 0, expiresAt: null }),
  );
  assert.equal(new Set(made.map(({ secret }) => secret)).size, 50);
  assert.equal(store.keys.list('local').length, 50);
});

test('a key without scopes may do everything, and one with scopes only what they name', () => {
  const allowed = (scopes: string | null): readonly string[] => SCOPES.filter((scope) => hasScope({ scopes }, scope));
  assert.deepEqual(allowed(null), SCOPES);
  assert.deepEqual(allowed('read,cancel'), ['read', 'cancel']);
  assert.deepEqual([allowed('reader'), allowed('')], [[], []]);
});
