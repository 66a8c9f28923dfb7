import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { limitsOf, limitsSettings } from '../../../../../src/service/config/limitsConfig.ts';
import { Store } from '../../../../../src/service/store/store.ts';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-accounts-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function open(folder: string, startCredits?: number): Store & Disposable {
  const store = new Store(folder, startCredits);
  return Object.assign(store, { [Symbol.dispose]: () => store.dispose() });
}

test('an account begins without limits and credits, and its ID belongs to one', (t) => {
  using store = open(folderOf(t));
  const added = store.addAccount({ id: 'lab', name: 'The lab', plan: 'team', createdAt: 5 });
  assert.deepEqual([added.disabledAt, new Set(Object.values(added.limits))], [null, new Set([null])]);
  assert.deepEqual(store.balances('lab'), { available: 0, held: 0, spent: 0 });
  assert.throws(() => store.addAccount(added), { code: 'conflict', message: /"lab" already exists/ });
  for (const id of ['', 'Lab', '-lab', 'a:b', 'a'.repeat(65)]) {
    assert.throws(() => store.addAccount({ ...added, id }), { code: 'bad-input' }, id);
  }
  assert.equal(store.addAccount({ ...added, id: `9${'a'.repeat(63)}` }).createdAt, 5);
  assert.throws(() => store.accounts.get('nobody'), {
    code: 'missing',
    message: 'Account "nobody" does not exist.',
  });
  assert.equal(store.accounts.find('nobody'), undefined);
});

test('a change of limits changes those that it names, and null is the default again', (t) => {
  using store = open(folderOf(t));
  store.addAccount({ id: 'lab', name: 'The lab', plan: 'team', createdAt: 0 });
  store.accounts.setLimits('lab', { uploads: 2, upload_bytes: 7, running_jobs: 0 });
  const { limits } = store.accounts.setLimits('lab', { upload_bytes: null, streams: 3 });
  const expected = { running_jobs: 0, uploads: 2, streams: 3, queued_jobs: null, upload_bytes: null };
  assert.deepEqual(limits, { ...expected, disk_bytes: null, run_time: null, requests_per_minute: null });
  const {
    upload_bytes: uploadBytes,
    queued_jobs: queued,
    uploads,
  } = limitsOf(store.accounts.get('lab'), limitsSettings.parse({ upload_gb: 0.5, queued_jobs: 9 }));
  assert.deepEqual([uploadBytes, queued, uploads], [500_000_000, 9, 2]);
});

test('the operator has no limits but that of an upload, unless they are their own', (t) => {
  using store = open(folderOf(t));
  const settings = limitsSettings.parse({ queued_jobs: 9, upload_gb: 1 });
  const { queued_jobs: queued, upload_bytes: bytes } = limitsOf(store.accounts.get('local'), settings);
  assert.deepEqual([queued, bytes], [Number.POSITIVE_INFINITY, 1_000_000_000]);
  assert.equal(limitsOf(store.accounts.setLimits('local', { queued_jobs: 2 }), settings).queued_jobs, 2);
});

test('an account is disabled and enabled again, and counts only while it is enabled', (t) => {
  using store = open(folderOf(t));
  store.addAccount({ id: 'lab', name: 'The lab', plan: 'team', createdAt: 0 });
  assert.equal(store.accounts.countEnabled(), 2);
  assert.equal(store.accounts.setDisabled('lab', 7).disabledAt, 7);
  assert.equal(store.accounts.countEnabled(), 1);
  assert.equal(store.accounts.setDisabled('lab', null).disabledAt, null);
  assert.deepEqual(
    store.accounts.list().map(({ id }) => id),
    ['lab', 'local'],
  );
});

test('a revoked key stays revoked at its first time, and lists have the keys of one account or of all', (t) => {
  using store = open(folderOf(t));
  store.addAccount({ id: 'lab', name: 'The lab', plan: 'team', createdAt: 0 });
  const [first] = ['lab', 'local'].map((account, createdAt) =>
    store.keys.add({ account, label: account, createdAt, expiresAt: null }),
  );
  assert.ok(first);
  assert.equal(store.keys.revoke(first.key.id, 10).revokedAt, 10);
  assert.equal(store.keys.revoke(first.key.id, 20).revokedAt, 10);
  const listed = (account?: string) => store.keys.list(account).map(({ label }) => label);
  assert.deepEqual([listed(), listed('lab')], [['lab', 'local'], ['lab']]);
  assert.throws(() => store.keys.revoke('unknown', 1), { code: 'missing' });
});

test('the operator gets the first credits once, whatever they are later', (t) => {
  const folder = folderOf(t);
  for (const start of [500, 900]) {
    using store = open(folder, start);
    assert.equal(store.balances('local').available, 500);
  }
});

test('an account is in one group at most, and what it is called changes alone', (t) => {
  using store = open(folderOf(t));
  for (const id of ['b', 'a', 'c']) store.addAccount({ id, name: id, plan: 'team', createdAt: 0 });
  for (const id of ['b', 'a']) store.accounts.setGroup(id, 'lab');
  store.accounts.setGroup('c', 'other');
  assert.deepEqual(store.accounts.members('lab'), ['a', 'b']);
  assert.equal(store.accounts.setGroup('a', null).group, null);
  store.accounts.dissolve('lab');
  assert.deepEqual([store.accounts.members('lab'), store.accounts.members('other')], [[], ['c']]);
  const { name, plan, group } = store.accounts.edit('c', { plan: 'large' });
  assert.deepEqual([name, plan, group], ['c', 'large', 'other']);
  assert.throws(() => store.accounts.setGroup('nobody', 'lab'), { code: 'missing' });
});
