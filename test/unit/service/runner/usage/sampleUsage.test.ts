import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_RUNTIME_SECONDS } from '../../../../../src/remote/protocol/termValues.ts';
import { reportPeriodMs } from '../../../../../src/service/runner/usage/sampleUsage.ts';

test('the longest job has fewer than 1,000 reports, and a job of ten minutes one every 2 to 8 seconds', () => {
  const periods: number[] = [];
  let [at, afterTenMinutes] = [0, 0];
  while (at < 1000 * MAX_RUNTIME_SECONDS) {
    const period = reportPeriodMs(periods.length);
    if (at < 600_000) afterTenMinutes = period;
    periods.push(period);
    at += period;
  }
  assert.ok(periods.length < 1_000, `${periods.length} reports`);
  assert.deepEqual([periods[0], afterTenMinutes], [2_000, 8_000]);
});
