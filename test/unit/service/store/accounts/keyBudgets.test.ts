import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { Store } from '../../../../../src/service/store/store.ts';
import { storeOf } from '../storeOf.ts';

function withKeys(t: TestContext, budget: number | null) {
  const setting = storeOf(t);
  const keyOf = (own: number | null): string =>
    setting.store.keys.add({ account: 'ada', label: 'ci', createdAt: 0, expiresAt: null, budget: own }).key.id;
  return { ...setting, keyId: keyOf(budget), other: keyOf(null) };
}

test('a key spends no more than its budget, of which an end returns what a job did not use', async (t) => {
  const { store, add, finish, keyId, other } = withKeys(t, 100);
  const job = await add('a', { keyId, hold: 60 });
  await add('b', { keyId: other, hold: 50 });
  assert.deepEqual(store.spendable('ada', { keyId }), { amount: 40, limit: 'key' });
  assert.deepEqual(
    [store.keyBudgets.left(keyId), store.keyBudgets.left(other), store.keyBudgets.left(null)],
    [40, undefined, undefined],
  );
  finish(job, { charged: 10 });
  assert.equal(store.keyBudgets.left(keyId), 90);
  const tooMuch = {
    id: 'c',
    account: 'ada',
    script: 'a',
    machineClass: 'cpu',
    maxRuntime: 1,
    createdAt: 0,
    keyId,
    hold: 91,
  };
  assert.deepEqual(await store.submit(tooMuch, [], { spec: '{}', archive: null, boot: '' }), {
    isAccepted: false,
    available: { amount: 90, limit: 'key' },
  });
  await add('d', { keyId, hold: 90 });
  assert.deepEqual(store.spendable('ada', { keyId }), { amount: 0, limit: 'key' });
});

test('a key with a budget that its account cannot pay is limited by the account', async (t) => {
  const { store, add, keyId, other } = withKeys(t, 1_000);
  const { available } = store.balances('ada');
  await add('a', { keyId: other, hold: available - 1_000 });
  assert.deepEqual(store.spendable('ada', { keyId }), { amount: 1_000, limit: 'account' });
});

test('a store in which a key has spent more than its budget is not opened', async (t) => {
  const { folder, store, add, keyId } = withKeys(t, 100);
  await add('a', { keyId, hold: 60 });
  const copy = join(folder, 'copy');
  mkdirSync(copy);
  await store.file.copyTo(join(copy, 'service.db'));
  const lowerTo = (budget: number): void => {
    const database = new DatabaseSync(join(copy, 'service.db'));
    database.prepare('UPDATE api_keys SET budget = ? WHERE id = ?').run(budget, keyId);
    database.close();
  };
  lowerTo(60);
  new Store(copy).dispose();
  lowerTo(59);
  assert.throws(() => new Store(copy), {
    code: 'corrupt',
    message: `The jobs of key ${keyId} cost 60 micro-credits of a budget of 59. Restore the data folder from a backup.`,
  });
});
