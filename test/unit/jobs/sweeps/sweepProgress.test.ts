import assert from 'node:assert/strict';
import { test } from 'node:test';
import { committedCost, countJobs, describeCounts } from '../../../../src/jobs/sweeps/sweepProgress.ts';
import { makeRecord } from '../fixtures.ts';

const NOW = Date.UTC(2026, 0, 1, 1);
const started = { startedAt: '2026-01-01T00:59:00.000Z', creditsPerMinute: 2, maxRuntime: 600 };

test('the jobs of a sweep are counted by what became of them, with their cost so far', () => {
  const records = [
    makeRecord({ ...started, state: 'running' }),
    makeRecord({ state: 'queued' }),
    makeRecord({ state: 'succeeded', exitCode: 0, creditsCharged: 3 }),
    makeRecord({ state: 'failed', exitCode: 1, creditsCharged: 0.5 }),
    makeRecord({ state: 'cancelled' }),
    makeRecord({ state: 'unknown' }),
  ];
  assert.deepEqual(countJobs(9, records, NOW), {
    total: 9,
    unsent: 3,
    unfinished: 2,
    succeeded: 1,
    failed: 2,
    unknown: 1,
    cost: 5.5,
    hours: { core: 0, gpu: 0 },
  });
});

test('jobs without a price add hours, beside the credits of the others', () => {
  const machine = { creditsPerMinute: null, creditsCharged: 0, unpricedCpus: 8, unpricedGpus: 1 };
  const records = [
    makeRecord({ ...started, ...machine, state: 'running' }),
    makeRecord({ ...started, ...machine, state: 'succeeded', finishedAt: '2026-01-01T01:29:00.000Z' }),
    makeRecord({ ...machine, state: 'queued' }),
    makeRecord({ state: 'succeeded', creditsCharged: 3 }),
  ];
  const counts = countJobs(4, records, NOW);
  assert.deepEqual([counts.cost, counts.hours], [3, { core: 8 / 60 + 4, gpu: 1 / 60 + 0.5 }]);
  assert.equal(describeCounts(counts), '2 of 4 done · 2 unfinished · 3 cr · 4.13 core-hours, 0.52 GPU-hours');
});

test('counts are said in one order, and what is none is not said', () => {
  const none = {
    total: 12,
    unsent: 0,
    unfinished: 0,
    succeeded: 0,
    failed: 0,
    unknown: 0,
    cost: 0,
    hours: { core: 0, gpu: 0 },
  };
  assert.equal(describeCounts(none), '0 of 12 done');
  assert.equal(
    describeCounts({ ...none, total: 12, unsent: 1, unfinished: 3, succeeded: 6, failed: 1, unknown: 2, cost: 4.2 }),
    '7 of 12 done · 1 failed · 3 unfinished · 2 unknown · 1 not sent · 4.2 cr',
  );
});

test('jobs that have ended commit what they were charged, and others their limit', () => {
  const draft = (fields: object) => makeRecord({ creditsPerMinute: 1, maxRuntime: 600, creditHold: null, ...fields });
  const drafts = [draft({}), draft({}), draft({}), draft({ creditsPerMinute: null })];
  const sent = (at: number, fields: object) => ({ ...(drafts[at] ?? draft({})), ...fields });
  assert.equal(committedCost({ drafts }, []), 0);
  assert.equal(committedCost({ drafts }, [sent(0, { state: 'running' })]), 10);
  assert.equal(
    committedCost({ drafts }, [sent(0, { state: 'succeeded', creditsCharged: 3 }), sent(1, { state: 'failed' })]),
    13,
  );
  assert.equal(committedCost({ drafts }, [sent(3, { state: 'running' }), draft({ state: 'running' })]), 0);
  // The service may have raised its prices since.
  assert.equal(
    committedCost({ drafts }, [sent(0, { state: 'running', creditHold: 15 }), sent(1, { creditHold: 1 })]),
    25,
  );
  assert.equal(committedCost({ drafts }, [sent(0, { state: 'succeeded', creditsCharged: -3 })]), 0);
});
