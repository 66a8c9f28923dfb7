import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOverruns } from '../../../../src/jobs/plan/balance.ts';
import { runningJob } from '../../extension/jobs.ts';

// Ten minutes after the start, at 0.3 credits a minute: 3 credits each.
const now = Date.parse('2026-11-20T12:10:05.000Z');
const vision = { ...runningJob({ project: 'vision' }), id: 'vision' };
const other = { ...runningJob(), id: 'other' };
const free = { ...runningJob({ project: 'vision', creditsPerMinute: null }), id: 'free' };
const budget = { project: 'vision', budget: { soft: 1, hard: 5 }, spent: 1.9, reserved: 0 };
const running = [vision, other, free];

test('a project whose jobs have used up its hard budget is found with its jobs that cost something', () => {
  const find = (spent: number) => findOverruns({ budgets: [{ ...budget, spent }], reported: undefined, running, now });
  assert.deepEqual(find(1.9), []);
  assert.deepEqual(find(2.5), [{ reason: 'Project vision has used 5.5 of 5 credits for this month', jobs: [vision] }]);
  const without = { project: '', budget: { hard: 1 }, spent: 0, reserved: 0 };
  assert.deepEqual(findOverruns({ budgets: [without], reported: undefined, running, now }), [
    { reason: 'Jobs without a project have used 3 of 1 credits for this month', jobs: [other] },
  ]);
});

test('a budget that is used up without running jobs, and a soft one, find nothing', () => {
  const budgets = [{ ...budget, spent: 100 }];
  assert.deepEqual(findOverruns({ budgets, reported: undefined, running: [other, free], now }), []);
  const soft = [{ ...budget, budget: { soft: 1 }, spent: 100 }];
  assert.deepEqual(findOverruns({ budgets: soft, reported: undefined, running, now }), []);
});

test('without credits all jobs that cost something are found; credits that a service holds for them count', () => {
  const unheld = running.map((record) => ({ ...record, creditHold: null }));
  const facts = { budgets: [], running: unheld, now };
  const reported = { balance: 0, asOf: '2026-11-20T12:10:00.000Z' };
  const found = findOverruns({ ...facts, reported });
  assert.deepEqual(
    found.map(({ reason, jobs }) => [reason, jobs.map(({ id }) => id)]),
    [['No credits are left', ['vision', 'other']]],
  );
  assert.deepEqual(findOverruns({ ...facts, reported: { ...reported, balance: 10 } }), []);
  const costless = { ...free, creditHold: null };
  assert.deepEqual(findOverruns({ ...facts, running: [costless], reported }), [], 'nothing costs any');
  assert.deepEqual(findOverruns({ ...facts, running, reported }), [], 'held credits are left');
});
