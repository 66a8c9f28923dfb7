import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { newRecord, recordName } from '../../../../src/jobs/ledger/record.ts';
import { patchFromJob } from '../../../../src/jobs/log/jobPatch.ts';
import { jobReport } from '../../../../src/remote/protocol/schemas.ts';
import { makeRecord, tempHome } from '../fixtures.ts';

test('each declared field of a job report is a field of the record, which the service fills', () => {
  const known = { id: 'a', host: 'local', state: 'sending', script: 'a.py', maxRuntime: 60, folder: '/a' };
  const record = newRecord({ ...known, createdAt: '2026-01-01T00:00:00Z' });
  const time = '2026-02-03T04:05:06Z';
  const place = { process: 1, language: 'python', reason: 'failure', file: 'a.py', line: 3, error: 'E', message: 'm' };
  const frozen = { ...place, since: time, until: time };
  for (const name of Object.keys(jobReport.shape)) {
    const patches = [time, 7, frozen].map((value) => Object.entries(patchFromJob({ [name]: value })));
    const [field, value] = patches.flat().find(([, each]) => each !== null) ?? [];
    assert.equal(field, recordName(name));
    assert.ok(value === time || value === 7 || isDeepStrictEqual(value, frozen), name);
    assert.equal(Object.entries(record).find(([one]) => one === field)?.[1], name === 'state' ? 'sending' : null);
  }
});

test('a record of an older version lacks no field, and one of a newer version loses none', (t) => {
  const home = tempHome(t);
  const ledger = new JobLedger(home);
  t.after(() => ledger.dispose());
  const record = makeRecord({ id: 'a', exitCode: 3 });
  ledger.insert(record);
  const database = new DatabaseSync(join(home, 'jobs.sqlite'));
  t.after(() => database.close());
  database.exec("UPDATE jobs SET record = json_set(json_remove(record, '$.exitCode', '$.removed'), '$.node', 'n7')");
  assert.deepEqual(ledger.get('a'), { ...record, exitCode: null, removed: false, node: 'n7' });
  assert.equal(Object.entries(ledger.update('a', { reason: 'x' })).find(([name]) => name === 'node')?.[1], 'n7');
});
