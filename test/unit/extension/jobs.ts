import { type JobRecord, newRecord } from '../../../src/jobs/ledger/record.ts';

/** A job that ended well, with whatever a test changes. */
export function jobRecord(change: Partial<JobRecord> = {}): JobRecord {
  return newRecord({
    id: '6f1c2a52-0000-4000-8000-000000000001',
    host: 'local',
    account: null,
    jobId: 'job-1',
    state: 'succeeded',
    script: 'train.py --epochs 3',
    project: null,
    machineClass: 'a10g',
    creditsPerMinute: 0.3,
    maxRuntime: 3600,
    venv: null,
    folder: '/home/ada/model',
    createdAt: '2026-11-20T12:00:00.000Z',
    startedAt: '2026-11-20T12:00:05.000Z',
    finishedAt: '2026-11-20T12:04:05.000Z',
    exitCode: 0,
    reason: null,
    creditHold: 18,
    creditsCharged: 1.2,
    gitCommit: '0123456789abcdef',
    archive: null,
    archiveBytes: null,
    lastLogLine: 'epoch 3 loss 0.1',
    downloadedAt: null,
    removed: false,
    ...change,
  });
}

/** One that runs since `startedAt`. */
export function runningJob(change: Partial<JobRecord> = {}): JobRecord {
  return jobRecord({ state: 'running', finishedAt: null, exitCode: null, creditsCharged: null, ...change });
}
