import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { insertAll, makeRecord, tempHome } from '../fixtures.ts';

test('a later reading has each job that was added, changed or deleted since the earlier one, once', (t) => {
  const home = tempHome(t);
  const ledger = new JobLedger(home);
  const other = new JobLedger(home); // as another window
  t.after(() => [ledger, other].forEach((each) => each.dispose()));
  const [old, changed, deleted, added] = [makeRecord(), makeRecord(), makeRecord(), makeRecord()];
  for (const record of [old, changed, deleted]) ledger.insert(record);
  const { number } = ledger.changesSince() ?? { number: -1 };
  assert.deepEqual(ledger.changesSince(number), { number, changed: [], deleted: [] });
  for (const state of ['starting', 'running']) other.update(changed.id, { state });
  other.delete(deleted.id);
  other.insert(added);
  const changes = ledger.changesSince(number);
  assert.deepEqual(changes?.changed, [{ ...changed, state: 'running' }, added]);
  assert.deepEqual(changes.deleted, [deleted.id]);
  assert.deepEqual(ledger.changesSince(changes.number)?.changed, []);
});

test('more changes than can be sent at once, and another ledger, ask for the whole list', (t) => {
  const home = tempHome(t);
  const ledger = new JobLedger(home);
  t.after(() => ledger.dispose());
  insertAll(
    home,
    Array.from({ length: 501 }, () => makeRecord()),
  );
  assert.equal(ledger.changesSince(0), undefined);
  assert.equal(ledger.changesSince(1)?.changed.length, 500);
  assert.equal(ledger.changesSince(1_000), undefined);
});

test('a ledger of an earlier version counts changes from when it is opened', (t) => {
  const home = tempHome(t);
  const record = makeRecord();
  const first = new JobLedger(home);
  first.insert(record);
  first.dispose();
  const database = new DatabaseSync(join(home, 'jobs.sqlite'));
  database.exec(
    `DROP TABLE job_changes; DROP TRIGGER number_insert; DROP TRIGGER number_update; DROP TRIGGER number_delete`,
  );
  database.close();
  const ledger = new JobLedger(home);
  t.after(() => ledger.dispose());
  assert.deepEqual([ledger.problem, ledger.list().length, ledger.changesSince()?.number], [undefined, 1, 0]);
  ledger.update(record.id, { pinned: true });
  assert.equal(ledger.changesSince(0)?.changed[0]?.pinned, true);
});
