import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWorthTelling } from '../../../../src/jobs/report/endReport.ts';
import { makeRecord } from '../fixtures.ts';

test('the end of a job is said if it was watched, ran for long enough or never ran', () => {
  const ended = { state: 'succeeded', startedAt: '2026-01-01T00:00:00.000Z' } as const;
  const minute = makeRecord({ ...ended, finishedAt: '2026-01-01T00:01:00.000Z' });
  const isTold = (record: typeof minute, notifyAfter: number, isWatched = false): boolean =>
    isWorthTelling(record, { isWatched, notifyAfter });
  assert.deepEqual([isTold(minute, 60), isTold(minute, 61), isTold(minute, 61, true)], [true, false, true]);
  const never = makeRecord({ state: 'failed', startedAt: null, finishedAt: '2026-01-01T00:01:00.000Z' });
  assert.equal(isTold(never, 1e9), true);
});
