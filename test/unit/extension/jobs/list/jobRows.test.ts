import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupJobs } from '../../../../../src/extension/jobs/store/jobGroups.ts';
import { JobRows } from '../../../../../src/extension/jobs/list/jobRows.ts';
import type { JobRecord } from '../../../../../src/jobs/ledger/record.ts';
import { jobRecord } from '../../jobs.ts';

function rowsOf(records: readonly JobRecord[]) {
  const rows = new JobRows();
  const [group] = groupJobs(records, { now: 0, grouping: 'sweep' });
  assert.ok(group);
  const find = (id: string): JobRecord | undefined => records.find((record) => record.id === id);
  return { rows, group, list: () => rows.rowsOf(group, find) };
}

test('a group of 10,000 jobs has 200 rows and one for more, which adds 200', () => {
  const { rows, group, list } = rowsOf(Array.from({ length: 10_000 }, (_, index) => jobRecord({ id: String(index) })));
  assert.deepEqual([list().length, list().at(-1), rows.hidden(group)], [201, { type: 'more', group: 'single' }, 9_800]);
  rows.showMoreOf('single');
  assert.deepEqual([list().length, rows.hidden(group)], [401, 9_600]);
});

test('the jobs of a sweep are one row, and each row stays the same object', () => {
  const sweep = { id: 's', name: 'grid', count: 2, index: 0, parameters: {} };
  const { rows, group, list } = rowsOf(['a', 'b'].map((id) => jobRecord({ id, sweep })));
  assert.deepEqual(list(), [{ type: 'sweep', sweep: 's', group: 'sweeps' }]);
  assert.equal(list()[0], list()[0]);
  assert.equal(
    rows.parentOf('a', group, () => jobRecord({ sweep })),
    list()[0],
  );
});

test('rows that VS Code did not ask for are not drawn', () => {
  const { rows, list } = rowsOf([jobRecord({ id: 'a' })]);
  assert.deepEqual(rows.drawnOf('a', undefined), []);
  list();
  assert.deepEqual(rows.drawnOf('a', undefined), [{ type: 'job', id: 'a' }]);
  rows.forget('a');
  assert.deepEqual(rows.drawnOf('a', undefined), []);
});
