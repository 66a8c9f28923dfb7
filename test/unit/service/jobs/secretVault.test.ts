import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { SecretVault } from '../../../../src/service/jobs/secretVault.ts';
import { Store } from '../../../../src/service/store/store.ts';

const VALUE = 'correct horse battery staple';

function open(t: TestContext) {
  const data = mkdtempSync(join(tmpdir(), 'farwharf-vault-'));
  const store = new Store(data);
  for (const id of ['ada', 'bob']) store.addAccount({ id, name: id, plan: 'team', createdAt: 1 });
  let isOpen = true;
  const close = (): void => {
    if (isOpen) store.dispose();
    isOpen = false;
  };
  t.after(() => {
    close();
    rmSync(data, { recursive: true });
  });
  const keyFile = join(data, 'secrets.key');
  return { data, close, keyFile, vault: new SecretVault(store.secrets, keyFile) };
}

test('a stolen store contains no value, and its key is a file for this user only that appears with the first secret', (t) => {
  const { data, close, keyFile, vault } = open(t);
  assert.ok(!existsSync(keyFile));
  vault.set('ada', 'HF_TOKEN', VALUE);
  assert.equal(statSync(keyFile).mode & 0o777, 0o600);
  assert.deepEqual(vault.values('ada', ['HF_TOKEN']), { HF_TOKEN: VALUE });
  close();
  for (const name of readdirSync(data)) assert.ok(!readFileSync(join(data, name)).includes(VALUE), name);
});

test('a row of another account or another name is not accepted in the place of a secret', (t) => {
  const { data, close, vault } = open(t);
  vault.set('bob', 'TOKEN', VALUE);
  vault.set('ada', 'OTHER', 'something else');
  close();
  const database = new DatabaseSync(join(data, 'service.db'));
  database.exec(`
    INSERT INTO secrets SELECT 'ada', 'TOKEN', sealed, 1, NULL FROM secrets WHERE account = 'bob';
    UPDATE secrets SET sealed = (SELECT sealed FROM secrets WHERE account = 'bob') WHERE name = 'OTHER'`);
  database.close();
  const again = new Store(data);
  const moved = new SecretVault(again.secrets, join(data, 'secrets.key'));
  assert.throws(() => moved.values('ada', ['TOKEN']), { code: 'refused', message: /cannot decrypt the secret TOKEN/ });
  assert.throws(() => moved.values('ada', ['OTHER']), { code: 'refused' });
  assert.deepEqual(moved.values('bob', ['TOKEN']), { TOKEN: VALUE });
  again.dispose();
});

test('a lost, foreign or readable key gives no value, and the secret can be set again', (t) => {
  const { keyFile, vault } = open(t);
  vault.set('ada', 'TOKEN', VALUE);
  chmodSync(keyFile, 0o644);
  assert.throws(() => vault.values('ada', ['TOKEN']), { code: 'refused' });
  assert.throws(() => vault.set('ada', 'TOKEN', VALUE), { code: 'permission', message: /chmod 600/ });
  rmSync(keyFile);
  assert.throws(() => vault.values('ada', ['TOKEN']), { code: 'refused', message: /Set the secret again/ });
  assert.ok(!existsSync(keyFile), 'reading creates no key');
  vault.set('ada', 'TOKEN', 'new value');
  assert.deepEqual(vault.values('ada', ['TOKEN']), { TOKEN: 'new value' });
  writeFileSync(keyFile, 'short');
  assert.throws(() => vault.set('ada', 'TOKEN', VALUE), { code: 'permission', message: /32 bytes/ });
});

test('secrets belong to one account, are at most 100, and go with the account', (t) => {
  const { data, close, vault } = open(t);
  for (let index = 0; index < 100; index += 1) vault.set('ada', `TOKEN_${index}`, VALUE);
  assert.throws(() => vault.set('ada', 'ONE_MORE', VALUE), { code: 'limit' });
  vault.set('ada', 'TOKEN_1', 'replaced');
  assert.deepEqual(vault.list('bob'), []);
  assert.ok(!vault.has('bob', 'TOKEN_1'));
  assert.throws(() => vault.values('bob', ['TOKEN_1']), { code: 'missing' });
  assert.equal(vault.remove('bob', 'TOKEN_1'), false);
  assert.equal(vault.remove('ada', 'TOKEN_1'), true);
  assert.equal(vault.list('ada').length, 99);
  close();
  const database = new DatabaseSync(join(data, 'service.db'));
  database.exec(`
    DELETE FROM credit_accounts WHERE name LIKE '%ada%';
    DELETE FROM accounts WHERE id = 'ada'`);
  assert.equal(database.prepare('SELECT count(*) AS count FROM secrets').get()?.['count'], 0);
  database.close();
});
