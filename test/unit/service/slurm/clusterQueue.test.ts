import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findClusterJob } from '../../../../src/service/slurm/clusterQueue.ts';

test('the start of a job is read where it is a time, in the zone of this machine', () => {
  const startOf = (time: string): number | undefined =>
    findClusterJob(`7|PENDING|Resources||1000|${time}|job`, { name: 'job', user: 1000 })?.startsAt;
  assert.equal(startOf('2026-01-02T03:04:05'), new Date(2026, 0, 2, 3, 4, 5).getTime());
  for (const other of ['N/A', '', 'Unknown', '03/04/26', 'Tomorr 03:04', '2. Januar', '-1', '2026-13-41T03:04:05']) {
    assert.equal(startOf(other), undefined, other);
  }
});

test('what a cluster says about a job is one short line without control characters', () => {
  const reason = `\u001b]0;title\u0007\u001b[31mAdmins say\u0000: ${'x'.repeat(1_000_000)}`;
  const job = findClusterJob(`7|PENDING|${reason}|node\r[1-2]|1000|N/A|job`, { name: 'job', user: 1000 });
  assert.match(job?.reason ?? '', /^Admins say: x{200,300}…$/);
  assert.ok((job?.reason.length ?? 0) <= 300);
  assert.equal(job?.nodes, 'node[1-2]');
});
