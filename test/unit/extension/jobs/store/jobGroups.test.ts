import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedGroups, groupJobs, type JobGroup } from '../../../../../src/extension/jobs/store/jobGroups.ts';
import { type Grouping, GROUPINGS } from '../../../../../src/extension/jobs/store/jobNodes.ts';
import type { JobRecord } from '../../../../../src/jobs/ledger/record.ts';
import { jobRecord, runningJob } from '../../jobs.ts';

const at = (day: number, hour = 12): string => new Date(2026, 10, day, hour).toISOString();
const NOW = new Date(2026, 10, 20, 15).getTime();

/** The keys of the groups, each with its jobs. */
const grouped = (records: readonly JobRecord[], grouping: Grouping = 'day', now = NOW): [string, readonly string[]][] =>
  groupJobs(records, { now, grouping }).map(({ key, ids }) => [key, ids]);
const groupOf = (record: JobRecord, now = NOW): string | undefined => grouped([record], 'day', now)[0]?.[0];
const group = (key: string, ...ids: string[]): JobGroup => {
  return { key, ids, title: key, isOpen: true, joinsSweeps: true };
};

test('what runs, waits or is uploaded is on top, however old it is', () => {
  for (const state of ['running', 'queued', 'starting', 'sending', 'unknown', 'WAITING_FOR_GPU']) {
    assert.equal(groupOf(runningJob({ state, createdAt: at(1) })), 'active', state);
  }
});

test('the local calendar decides, not the hours that have passed', () => {
  const justAfterMidnight = new Date(2026, 10, 20, 0, 5).getTime();
  assert.equal(groupOf(jobRecord({ createdAt: at(19, 23) }), justAfterMidnight), 'yesterday');
  assert.equal(groupOf(jobRecord({ createdAt: at(20, 0) }), justAfterMidnight), 'today');
});

test('a week is seven days, and then a job is older', () => {
  assert.equal(groupOf(jobRecord({ createdAt: at(18) })), 'week');
  assert.equal(groupOf(jobRecord({ createdAt: at(14) })), 'week');
  assert.equal(groupOf(jobRecord({ createdAt: at(13) })), 'older');
});

test('a clock that was set back does not lose a job of the future', () => {
  assert.equal(groupOf(jobRecord({ createdAt: at(22) })), 'today');
});

test('empty groups are missing, the groups have a fixed order, and their jobs keep that of the list', () => {
  const records = [
    jobRecord({ id: 'c', createdAt: at(20) }),
    runningJob({ id: 'b' }),
    jobRecord({ id: 'a', createdAt: at(20, 9) }),
  ];
  assert.deepEqual(grouped(records), [
    ['active', ['b']],
    ['today', ['c', 'a']],
  ]);
});

test('pinned jobs are on top in every grouping, and nowhere else', () => {
  const records = [jobRecord({ id: 'new' }), jobRecord({ id: 'old', pinned: true, createdAt: at(1) })];
  for (const grouping of GROUPINGS) {
    const [first, ...others] = grouped(records, grouping);
    assert.deepEqual(first, ['pinned', ['old']], grouping);
    assert.deepEqual(
      others.flatMap(([, ids]) => ids),
      ['new'],
      grouping,
    );
  }
});

test('jobs are grouped by state, project and sweep', () => {
  const sweep = { id: 's', name: 'grid', count: 2, index: 0, parameters: {} };
  const records = [
    jobRecord({ id: 'a', project: 'vision' }),
    jobRecord({ id: 'b', state: 'failed', exitCode: 1 }),
    runningJob({ id: 'c', project: 'audio', sweep }),
  ];
  assert.deepEqual(grouped(records, 'state'), [
    ['state running', ['c']],
    ['state succeeded', ['a']],
    ['state failed', ['b']],
  ]);
  assert.deepEqual(grouped(records, 'project'), [
    ['project audio', ['c']],
    ['project vision', ['a']],
    ['project ', ['b']],
  ]);
  assert.deepEqual(grouped(records, 'sweep'), [
    ['sweeps', ['c']],
    ['single', ['a', 'b']],
  ]);
});

test('only groups whose rows differ are drawn again', () => {
  const before = [group('active', 'a'), group('today', 'b', 'c')];
  assert.deepEqual(changedGroups(before, [...before]), []);
  assert.deepEqual(changedGroups(before, [group('active', 'a'), group('today', 'b')]), ['today']);
  assert.deepEqual(changedGroups(before, [group('active', 'a'), group('older', 'b', 'c')]), 'all');
  assert.deepEqual(changedGroups(before, [group('active', 'a')]), 'all');
});

test('10,000 jobs are all in some group', () => {
  const records = Array.from({ length: 10_000 }, (_, index) =>
    jobRecord({ id: String(index), createdAt: at(20 - (index % 20)) }),
  );
  for (const grouping of GROUPINGS) assert.equal(grouped(records, grouping).flatMap(([, ids]) => ids).length, 10_000);
});
