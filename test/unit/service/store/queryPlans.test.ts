import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { test } from 'node:test';
import { Store } from '../../../../src/service/store/store.ts';

// A row for each account, key, group or project; and the books, which are added up once, at the start.
const MAY_READ_ALL = /^SCAN (accounts|api_keys|budgets|credit_accounts|credit_entries)\b/;

test('no query that the service prepares reads all of a table that grows with the jobs', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-plans-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const statements = new Set<string>();
  const { prototype } = DatabaseSync;
  const prepare = Object.getOwnPropertyDescriptor(prototype, 'prepare')?.value as (sql: string) => StatementSync;
  t.mock.method(prototype, 'prepare', function (this: DatabaseSync, sql: string) {
    statements.add(sql);
    return prepare.call(this, sql);
  });
  new Store(folder).dispose();
  t.mock.restoreAll();

  const database = new DatabaseSync(join(folder, 'service.db'));
  t.after(() => database.close());
  const plans = [...statements]
    .filter((sql) => !/^\s*PRAGMA/i.test(sql))
    .map((sql) => ({
      sql,
      steps: database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => String(detail)),
    }));
  assert.ok(plans.some(({ steps }) => steps.includes('SEARCH events USING PRIMARY KEY (job=? AND id>?)')));
  const slow = plans.filter(({ steps }) =>
    steps.some((step) => /^SCAN (?!\(|CONSTANT)/.test(step) && !/USING/.test(step) && !MAY_READ_ALL.test(step)),
  );
  assert.deepEqual(slow, []);
});
