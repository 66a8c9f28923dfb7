import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { FinalState } from '../../../../../src/remote/protocol/states.ts';
import { Store } from '../../../../../src/service/store/store.ts';

const WORKSPACE = { spec: '{}', archive: null, boot: '' };
const GROUP = { kind: 'group', name: 'lab', createdAt: 0, budget: 1_000, runningJobs: null } as const;
const PROJECT = { ...GROUP, kind: 'project', name: 'vision', budget: 700 } as const;

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-budgets-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function openStore(folder: string): Store {
  const store = new Store(folder);
  for (const id of ['ada', 'bob'].filter((id) => store.accounts.find(id) === undefined)) {
    store.addAccount({ id, name: id, plan: 'team', createdAt: 0 });
    store.grant(id, { reference: 'start', amount: 100_000, at: 0 });
  }
  return store;
}

function submit(store: Store, id: string, hold: number, account = 'ada', project: string | null = null) {
  const job = { id, account, script: 'a', project, machineClass: 'cpu', maxRuntime: 1, createdAt: 0, hold };
  return store.submit(job, [], WORKSPACE);
}

function finish(store: Store, id: string, charged: number, state: FinalState = 'succeeded'): void {
  const job = store.jobs.get(id) ?? assert.fail();
  store.finish(job, { state, finishedAt: 1, exitCode: 0, reason: null, charged }, []);
}

/** What the jobs of a group or project cost, from the jobs themselves. */
function costIn(folder: string, column: 'group_name' | 'project', name: string): number {
  const database = new DatabaseSync(join(folder, 'service.db'));
  const row = database.prepare(`SELECT sum(coalesce(charged, hold)) AS cost FROM jobs WHERE ${column} = ?`).get(name);
  database.close();
  return Number(row?.['cost']);
}

test('a job has to fit the credits of its account, of its group and of its project, and is refused by the smallest', async (t) => {
  const store = openStore(newFolder(t));
  t.after(() => store.dispose());
  store.budgets.add(GROUP);
  store.budgets.add(PROJECT);
  store.accounts.setGroup('ada', 'lab');
  assert.deepEqual(await submit(store, 'a', 701, 'ada', 'vision'), {
    isAccepted: false,
    available: { amount: 700, limit: 'project', name: 'vision' },
  });
  assert.deepEqual((await submit(store, 'a', 1_001)).available, { amount: 1_000, limit: 'group', name: 'lab' });
  assert.equal((await submit(store, 'a', 600, 'ada', 'vision')).isAccepted, true);
  assert.deepEqual(store.spendable('ada', {}), { amount: 400, limit: 'group', name: 'lab' });
  assert.deepEqual(store.spendable('bob', { project: 'vision' }), { amount: 100, limit: 'project', name: 'vision' });
  assert.deepEqual(store.spendable('bob', {}), { amount: 100_000, limit: 'account' });
  finish(store, 'a', 50);
  assert.equal(store.spendable('ada', {}).amount, 950);
  assert.equal(store.spendable('ada', { project: 'vision' }).amount, 650);
  finish(store, 'a', 50);
  assert.equal(store.budgets.get('group', 'lab').cost, 50, 'an end counts once');
});

test('two hundred submissions at once, of several accounts, never overspend a group or a project, also after each crash', async (t) => {
  const folder = newFolder(t);
  let store = openStore(folder);
  store.budgets.add(GROUP);
  store.budgets.add(PROJECT);
  for (const id of ['ada', 'bob']) store.accounts.setGroup(id, 'lab');
  let accepted: string[] = [];
  let seed = 11;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647; // Lehmer's generator (Park and Miller, 1988)
    return seed % below;
  };
  for (let round = 0; round < 5; round += 1) {
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const id = `${round}-${index}`;
        const account = index % 2 === 0 ? 'ada' : 'bob';
        const { isAccepted } = await submit(store, id, random(60) + 1, account, index % 3 === 0 ? null : 'vision');
        return isAccepted ? [id] : [];
      }),
    );
    accepted.push(...outcomes.flat());
    const [lab, vision] = [store.budgets.get('group', 'lab'), store.budgets.get('project', 'vision')];
    assert.ok(lab.cost <= 1_000 && vision.cost <= 700, `${lab.cost} and ${vision.cost}`);
    assert.ok(lab.cost > 900, 'the group is used up');
    accepted = accepted.filter((id) => {
      if (random(2) === 0) return true;
      finish(store, id, random((store.jobs.get(id)?.hold ?? 0) + 1));
      return false;
    });
    const before = [store.budgets.get('group', 'lab').cost, store.budgets.get('project', 'vision').cost];
    store.dispose();
    assert.deepEqual([costIn(folder, 'group_name', 'lab'), costIn(folder, 'project', 'vision')], before);
    // As after a version that knows no budgets, or a store that was damaged: the jobs are the truth.
    const database = new DatabaseSync(join(folder, 'service.db'));
    if (round === 2) database.exec('UPDATE budgets SET cost = 5');
    database.close();
    store = openStore(folder);
    assert.deepEqual([store.budgets.get('group', 'lab').cost, store.budgets.get('project', 'vision').cost], before);
  }
  store.dispose();
});

test('a job counts for the group in which it was submitted, and for no other; removing the group leaves its jobs', async (t) => {
  const store = openStore(newFolder(t));
  t.after(() => store.dispose());
  store.budgets.add(GROUP);
  store.budgets.add({ ...GROUP, name: 'other' });
  store.accounts.setGroup('ada', 'lab');
  await submit(store, 'a', 100);
  store.accounts.setGroup('ada', 'other');
  await submit(store, 'b', 200);
  finish(store, 'a', 30);
  assert.deepEqual([store.budgets.get('group', 'lab').cost, store.budgets.get('group', 'other').cost], [30, 200]);
  store.accounts.dissolve('other');
  store.budgets.remove('group', 'other');
  assert.equal(store.accounts.get('ada').group, null);
  assert.equal(store.spendable('ada', {}).limit, 'account');
  finish(store, 'b', 10);
  assert.throws(() => store.budgets.get('group', 'other'), {
    code: 'missing',
    message: 'The group "other" does not exist.',
  });
  assert.equal(store.budgets.add({ ...GROUP, name: 'other' }).cost, 10, 'its earlier jobs count again');
  assert.throws(() => store.budgets.add(GROUP), { code: 'conflict', message: 'The group "lab" already exists.' });
  const usage = store.usage.read(0, 2);
  assert.deepEqual(
    usage.map(({ group, charged }) => [group, charged]).toSorted(([, a], [, b]) => Number(a) - Number(b)),
    [
      ['other', 10],
      ['lab', 30],
    ],
  );
});

test('a budget can be lowered below what is used: nothing is accepted then, and what runs continues', async (t) => {
  const store = openStore(newFolder(t));
  t.after(() => store.dispose());
  store.budgets.add(PROJECT);
  await submit(store, 'a', 500, 'ada', 'vision');
  store.budgets.edit('project', 'vision', { budget: 100 });
  assert.deepEqual((await submit(store, 'b', 1, 'bob', 'vision')).available, {
    amount: 0,
    limit: 'project',
    name: 'vision',
  });
  finish(store, 'a', 40);
  assert.equal((await submit(store, 'b', 60, 'bob', 'vision')).isAccepted, true);
});

test('where a budget allows as much as the account has, the account is the limit', (t) => {
  const store = openStore(newFolder(t));
  t.after(() => store.dispose());
  store.budgets.add({ ...PROJECT, budget: 100_000 });
  assert.deepEqual(store.spendable('ada', { project: 'vision' }), { amount: 100_000, limit: 'account' });
  store.budgets.edit('project', 'vision', { budget: 99_999 });
  assert.equal(store.spendable('ada', { project: 'vision' }).limit, 'project');
});
