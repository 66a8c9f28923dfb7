import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { localMachineClasses } from '../../../../../src/service/config/machineClasses.ts';
import { CreditLedger } from '../../../../../src/service/store/accounts/creditLedger.ts';
import { Store } from '../../../../../src/service/store/store.ts';
import { openDatabase } from '../../../../../src/service/store/database/database.ts';

function openLedger(t: TestContext): CreditLedger {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-ledger-'));
  const database = openDatabase(join(folder, 'service.db'));
  t.after(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  return new CreditLedger(database);
}

test('a hold moves credits aside, and its end spends a part and gives the rest back', (t) => {
  const ledger = openLedger(t);
  ledger.grant('local', { reference: 'start', amount: 1_000, at: 0 });
  ledger.hold('local', 'job', 300, 1);
  assert.equal(ledger.available('local'), 700);
  ledger.settle({ account: 'local', id: 'job', hold: 300 }, 120, 2);
  assert.equal(ledger.available('local'), 880);
  ledger.check();
});

test('nothing happens twice for the same job', (t) => {
  const ledger = openLedger(t);
  for (let round = 0; round < 3; round += 1) {
    ledger.grant('local', { reference: 'start', amount: 1_000, at: 0 });
    ledger.hold('local', 'job', 300, 1);
    ledger.settle({ account: 'local', id: 'job', hold: 300 }, 100, 2);
  }
  assert.equal(ledger.available('local'), 900);
});

test('a balance cannot go below zero', (t) => {
  const ledger = openLedger(t);
  ledger.grant('local', { reference: 'start', amount: 100, at: 0 });
  assert.throws(() => ledger.hold('local', 'job', 101, 1), /CHECK/);
  assert.throws(() => ledger.grant('local', { reference: 'back', amount: -2_500_000, at: 1 }), {
    code: 'bad-input',
    message: '2.5 credits cannot be taken from local: 0.0001 are available.',
  });
});

test('what is held must be what unfinished jobs hold', (t) => {
  const ledger = openLedger(t);
  ledger.grant('local', { reference: 'start', amount: 100, at: 0 });
  ledger.hold('local', 'no-such-job', 40, 1);
  assert.throws(() => ledger.check(), { code: 'corrupt', message: /40 micro-credits are held/ });
});

test('whatever happens in whatever order, and twice, the books of all accounts balance and agree with a simple model', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-ledger-'));
  const database = openDatabase(join(folder, 'service.db'));
  t.after(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  const ledger = new CreditLedger(database);
  const accounts = ['ada', 'bob', 'eve'];
  const addAccount = database.prepare("INSERT INTO accounts (id, name, plan, created_at) VALUES (?, '', '', 0)");
  const addJob = database.prepare(
    `INSERT INTO jobs (id, account, state, script, machine_class, max_runtime, created_at, hold)
      VALUES (?, ?, 'queued', '', '', 1, 0, ?)`,
  );
  const endJob = database.prepare(
    "UPDATE jobs SET state = 'failed', finished_at = 1, charged = ? WHERE id = ? AND finished_at IS NULL",
  );
  const model = new Map(accounts.map((id) => [id, { available: 0, held: 0, spent: 0 }]));
  for (const id of accounts) {
    addAccount.run(id);
    ledger.open(id);
  }
  const running: { id: string; account: string; hold: number }[] = [];
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647; // Lehmer's generator (Park and Miller, 1988)
    return seed % below;
  };
  database.exec('BEGIN'); // one wait for the disk instead of thousands
  for (let step = 0; step < 2_000; step += 1) {
    const account = accounts[random(accounts.length)] ?? '';
    const own = model.get(account) ?? assert.fail();
    const amount = random(1_000) + 1;
    const kind = random(4);
    if (kind === 0) {
      const grant = { reference: `g${step}`, amount, at: step };
      assert.equal(ledger.grant(account, grant), true);
      assert.equal(ledger.grant(account, grant), false);
      own.available += amount;
    } else if (kind === 1) {
      const take = () => ledger.grant(account, { reference: `t${step}`, amount: -amount, at: step });
      if (amount > own.available) {
        assert.throws(take, { code: 'bad-input' });
        continue;
      }
      take();
      own.available -= amount;
    } else if (kind === 2 && amount <= own.available) {
      const job = { id: `j${step}`, account, hold: amount };
      addJob.run(job.id, account, amount);
      for (let times = 0; times < 2; times += 1) ledger.hold(account, job.id, amount, step);
      running.push(job);
      own.available -= amount;
      own.held += amount;
    } else if (running.length > 0) {
      const [job = assert.fail()] = running.splice(random(running.length), 1);
      const charge = random(job.hold + 1);
      endJob.run(charge, job.id);
      for (let times = 0; times < 2; times += 1) ledger.settle(job, charge, step);
      const its = model.get(job.account) ?? assert.fail();
      its.held -= job.hold;
      its.spent += charge;
      its.available += job.hold - charge;
    }
  }
  database.exec('COMMIT');
  ledger.check();
  for (const [id, balances] of model) assert.deepEqual(ledger.balances(id), balances, id);
});

test('each account must hold what its own jobs hold, even where the sums over all agree', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-ledger-'));
  t.after(() => rmSync(folder, { recursive: true }));
  {
    const store = new Store(folder);
    for (const id of ['ada', 'bob']) {
      store.addAccount({ id, name: id, plan: 'team', createdAt: 0 });
      store.grant(id, { reference: 'start', amount: 100, at: 0 });
    }
    const job = { id: 'job', account: 'ada', machineClass: 'cpu', script: 'a', project: null, maxRuntime: 1 };
    await store.submit({ ...job, createdAt: 0, hold: 40 }, [], { spec: '{}', archive: null, boot: '' });
    store.dispose();
  }
  new Store(folder).dispose();
  const database = openDatabase(join(folder, 'service.db'));
  database.exec("UPDATE jobs SET account = 'bob'");
  database.close();
  const says = /ada: 40 micro-credits are held, but its unfinished jobs hold 0; bob: 0 .* hold 40/;
  assert.throws(() => new Store(folder), { code: 'corrupt', message: says });
});

test('a price is whole micro-credits and never less than its part of a minute', () => {
  const classes = localMachineClasses();
  const priceOf = (seconds: number): number => classes.priceOf('local', seconds);
  assert.equal(priceOf(60), 100_000);
  assert.equal(priceOf(0), 0);
  assert.equal(priceOf(0.001), 2);
  for (const seconds of [1, 7, 59, 61, 3_599]) assert.ok(Number.isInteger(priceOf(seconds)));
});

test('a grant happens once for its reference, and another amount needs another one', (t) => {
  const ledger = openLedger(t);
  const grant = (amount: number, reference = 'invoice 7') => ledger.grant('local', { reference, amount, at: 0 });
  assert.deepEqual([grant(2_500_000), grant(2_500_000), grant(1, 'invoice 8')], [true, false, true]);
  assert.throws(() => grant(3_000_000), {
    code: 'conflict',
    message:
      'The reference "invoice 7" has already granted 2.5 credits to local. Use another reference for another amount.',
  });
  assert.throws(() => grant(-3_000_000, 'back'), {
    code: 'bad-input',
    message: '3 credits cannot be taken from local: 2.500001 are available.',
  });
  assert.equal(grant(-2_500_001, 'back'), true);
  assert.equal(ledger.available('local'), 0);
});
