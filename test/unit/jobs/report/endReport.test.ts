import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endReport, endVariables } from '../../../../src/jobs/report/endReport.ts';
import { makeRecord } from '../fixtures.ts';

test('a report has what is known of a job, and its variables are empty for the rest', () => {
  const times = { startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:03:00.000Z' };
  const ended = { state: 'succeeded', exitCode: 0, creditsCharged: 0.3, ...times };
  const report = endReport(makeRecord({ ...ended, jobId: 'job-1', project: 'vision', machineClass: 'a10g' }));
  assert.deepEqual(report, {
    text: 'train.py: succeeded after 3 min · 0.3 credits',
    job_id: 'job-1',
    state: 'succeeded',
    succeeded: true,
    exit_code: 0,
    reason: null,
    script: 'train.py',
    project: 'vision',
    service: 'local',
    machine_class: 'a10g',
    folder: '/home/ada/model',
    seconds: 180,
    credits_charged: 0.3,
    finished_at: times.finishedAt,
  });
  const unknown = endReport(makeRecord({ state: 'lost', jobId: null, reason: 'gone', machineClass: null }));
  assert.deepEqual(
    [unknown.job_id, unknown.reason, unknown.machine_class, unknown.project, unknown.seconds],
    [null, 'gone', null, null, null],
  );
  const { FARWHARF_STATE: state, FARWHARF_REASON: reason, FARWHARF_MACHINE_CLASS: none } = endVariables(unknown);
  assert.deepEqual([state, reason, none], ['lost', 'gone', '']);
});
