import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findJob } from '../../../../src/service/slurm/clusterQueue.ts';

test('the start of a job is read where it is a time, in the zone of this machine', () => {
  const startOf = (time: string): number | undefined =>
    findJob(`7|PENDING|Resources||1000|${time}|job`, { name: 'job', user: 1000 })?.startsAt;
  assert.equal(startOf('2026-01-02T03:04:05'), new Date(2026, 0, 2, 3, 4, 5).getTime());
  for (const other of ['N/A', '', 'Unknown', '03/04/26', 'Tomorr 03:04', '2. Januar', '-1', '2026-13-41T03:04:05']) {
    assert.equal(startOf(other), undefined, other);
  }
});
