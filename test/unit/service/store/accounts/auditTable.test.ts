import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { AUDIT_TABLE, AuditTable } from '../../../../../src/service/store/accounts/auditTable.ts';

const AT = '2026-01-02T03:04:05.000Z';

function trail(t: TestContext, entries: number) {
  const database = new DatabaseSync(':memory:');
  t.after(() => database.close());
  database.exec(AUDIT_TABLE);
  const audit = new AuditTable(database);
  for (let number = 1; number <= entries; number += 1) {
    audit.append({ at: AT, operator: { user: 'ada' }, verb: `verb.${number}`, outcome: 'done' });
  }
  /** Changes the table as somebody with the file could. */
  const tamper = (sql: string): void => database.exec(`DROP TRIGGER audit_is_final; DROP TRIGGER audit_stays; ${sql}`);
  return { audit, database, tamper };
}

test('a trail that nothing has touched is whole, up to its last hash', async (t) => {
  const empty = trail(t, 0).audit;
  assert.deepEqual([...empty.newestFirst()], []);
  assert.deepEqual(await empty.check(), { entries: 0, hash: null, broken: undefined, hasExpected: true });
  assert.equal((await empty.check('x')).hasExpected, false);

  // More than a page of rows.
  const { audit } = trail(t, 1_201);
  const entries = [...audit.newestFirst()];
  assert.deepEqual(
    entries.map(({ number, verb }) => `${number} ${verb}`),
    Array.from({ length: 1_201 }, (_, index) => `${1_201 - index} verb.${1_201 - index}`),
  );
  assert.equal(new Set(entries.map(({ hash }) => hash)).size, 1_201);
  assert.deepEqual(await audit.check(), {
    entries: 1_201,
    hash: entries[0]?.hash,
    broken: undefined,
    hasExpected: true,
  });
  for (const { hash } of [entries[0], entries[600], entries[1_200]].filter((entry) => entry !== undefined)) {
    assert.equal((await audit.check(hash)).hasExpected, true);
  }
  assert.equal((await audit.check('0'.repeat(64))).hasExpected, false);
});

test('no entry can be changed or deleted with SQL', (t) => {
  const { audit, database } = trail(t, 2);
  assert.throws(() => database.exec(`UPDATE audit SET entry = '{}'`), /append-only/);
  assert.throws(() => database.exec('DELETE FROM audit WHERE number = 2'), /append-only/);
  assert.equal([...audit.newestFirst()].length, 2);
});

test('a check finds the first entry that was changed, removed or made up', async (t) => {
  const cases: readonly [sql: string, number: number, why: string][] = [
    [`UPDATE audit SET entry = replace(entry, 'ada', 'eve') WHERE number = 3`, 3, 'does not match its hash'],
    [
      `UPDATE audit SET hash = (SELECT hash FROM audit WHERE number = 1) WHERE number = 2`,
      2,
      'does not match its hash',
    ],
    ['DELETE FROM audit WHERE number = 1', 1, 'is missing; the next one is 2'],
    ['DELETE FROM audit WHERE number IN (2, 3)', 2, 'is missing; the next one is 4'],
  ];
  for (const [sql, number, why] of cases) {
    const { audit, tamper } = trail(t, 4);
    const hashes = [...audit.newestFirst()].map(({ hash }) => hash).toReversed();
    tamper(sql);
    const hash = hashes[number - 2] ?? null;
    assert.deepEqual(await audit.check(hash ?? undefined), {
      entries: number - 1,
      hash,
      broken: { number, why },
      hasExpected: true,
    });
    assert.equal((await audit.check(hashes[3])).hasExpected, false, sql);
  }
});

test('an entry that cannot be read is left out of the list, and found by a check though its hash is right', async (t) => {
  for (const text of ['not JSON', 'null', '[]', '{"verb":"x"}', `{"at":"${AT}"}`]) {
    const { audit, tamper } = trail(t, 2);
    const hash = createHash('sha256')
      .update(`${'0'.repeat(64)}\n1\n${text}`)
      .digest('hex');
    tamper(`UPDATE audit SET entry = '${text}', hash = '${hash}' WHERE number = 1`);
    assert.deepEqual(
      [...audit.newestFirst()].map(({ number }) => number),
      [2],
      text,
    );
    assert.deepEqual((await audit.check()).broken, { number: 1, why: 'is not an entry' });
  }
});

test('work and the entry about it are stored together or not at all', (t) => {
  const { audit, database } = trail(t, 1);
  database.exec('CREATE TABLE work (done TEXT)');
  const work = (): string => {
    database.exec(`INSERT INTO work VALUES ('x')`);
    return 'result';
  };
  const entryOf = (after: string) => ({ at: AT, operator: { user: 'ada' }, verb: 'v', after, outcome: 'done' });
  assert.equal(audit.alongside(work, entryOf), 'result');
  assert.equal([...audit.newestFirst()][0]?.after, 'result');
  const failing = (): never => {
    throw new Error('no entry');
  };
  assert.throws(() => audit.alongside(work, failing), /^Error: no entry$/);
  assert.throws(() => audit.alongside(failing, entryOf), /^Error: no entry$/);
  assert.equal(database.prepare('SELECT count(*) AS count FROM work').get()?.['count'], 1);
  assert.equal([...audit.newestFirst()].length, 2);
});

test('long texts of an entry are cut, and an entry that is too large keeps what was done', (t) => {
  const { audit } = trail(t, 0);
  const entry = { at: AT, operator: { user: 'ada' }, verb: 'v', account_id: 'a', outcome: 'done' };
  audit.append({ ...entry, input: { fits: 'x'.repeat(300), long: 'x'.repeat(301) }, before: null });
  audit.append({ ...entry, before: { texts: Array.from({ length: 100 }, () => 'x'.repeat(200)) } });
  const [large, cut] = [...audit.newestFirst()];
  assert.deepEqual(cut?.input, { fits: 'x'.repeat(300), long: `${'x'.repeat(300)}…` });
  assert.equal(cut?.before, null);
  const { number: _number, hash: _hash, ...rest } = large ?? assert.fail();
  assert.deepEqual(rest, { ...entry, after: 'too large to be stored' });
});
