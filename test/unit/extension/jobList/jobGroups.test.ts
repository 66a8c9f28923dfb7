import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedGroups, groupJobs, groupOf } from '../../../../src/extension/jobList/jobGroups.ts';
import { jobRecord, runningJob } from '../jobs.ts';

const at = (day: number, hour = 12): string => new Date(2026, 10, day, hour).toISOString();
const NOW = new Date(2026, 10, 20, 15).getTime();

test('what runs, waits or is uploaded is on top, however old it is', () => {
  for (const state of ['running', 'queued', 'starting', 'sending', 'unknown', 'WAITING_FOR_GPU']) {
    assert.equal(groupOf(runningJob({ state, createdAt: at(1) }), NOW), 'active', state);
  }
});

test('the local calendar decides, not the hours that have passed', () => {
  const justAfterMidnight = new Date(2026, 10, 20, 0, 5).getTime();
  assert.equal(groupOf(jobRecord({ createdAt: at(19, 23) }), justAfterMidnight), 'yesterday');
  assert.equal(groupOf(jobRecord({ createdAt: at(20, 0) }), justAfterMidnight), 'today');
});

test('a week is seven days, and then a job is older', () => {
  assert.equal(groupOf(jobRecord({ createdAt: at(18) }), NOW), 'week');
  assert.equal(groupOf(jobRecord({ createdAt: at(14) }), NOW), 'week');
  assert.equal(groupOf(jobRecord({ createdAt: at(13) }), NOW), 'older');
});

test('a clock that was set back does not lose a job of the future', () => {
  assert.equal(groupOf(jobRecord({ createdAt: at(22) }), NOW), 'today');
});

test('empty groups are not there, and the order of the list is kept', () => {
  const groups = groupJobs(
    [jobRecord({ id: 'c', createdAt: at(20) }), runningJob({ id: 'b' }), jobRecord({ id: 'a', createdAt: at(20, 9) })],
    NOW,
  );
  assert.deepEqual(
    [...groups],
    [
      ['today', ['c', 'a']],
      ['active', ['b']],
    ],
  );
});

test('only groups whose rows differ are drawn again', () => {
  const before = new Map([
    ['active', ['a']],
    ['today', ['b', 'c']],
  ] as const);
  assert.deepEqual(changedGroups(before, new Map(before)), []);
  assert.deepEqual(
    changedGroups(
      before,
      new Map([
        ['active', ['a']],
        ['today', ['b']],
      ] as const),
    ),
    ['today'],
  );
  assert.deepEqual(
    changedGroups(
      before,
      new Map([
        ['active', ['a']],
        ['older', ['b', 'c']],
      ] as const),
    ),
    'all',
  );
  assert.deepEqual(changedGroups(before, new Map([['active', ['a']]] as const)), 'all');
});

test('10,000 jobs are all in some group', () => {
  const records = Array.from({ length: 10_000 }, (_, index) =>
    jobRecord({ id: String(index), createdAt: at(20 - (index % 20)) }),
  );
  const groups = groupJobs(records, NOW);
  assert.equal(
    [...groups.values()].reduce((sum, ids) => sum + ids.length, 0),
    10_000,
  );
});
