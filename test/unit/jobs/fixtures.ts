import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobRecord } from '../../../src/jobs/ledger/record.ts';

/** A folder that is gone after the test. */
export function tempHome(t: { after(clean: () => void): void }): string {
  const home = mkdtempSync(join(tmpdir(), 'farwharf-jobs-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** A job that the embedded service has accepted, with what the test cares about. */
export function makeRecord(fields: Partial<JobRecord> = {}): JobRecord {
  const id = randomUUID();
  return {
    id,
    host: 'local',
    account: null,
    jobId: `job-${id}`,
    state: 'queued',
    script: 'train.py',
    project: null,
    machineClass: 'local',
    creditsPerMinute: 0.1,
    maxRuntime: 600,
    venv: null,
    folder: '/home/ada/model',
    createdAt: '2026-01-01T00:00:00.000Z',
    startedAt: null,
    finishedAt: null,
    exitCode: null,
    reason: null,
    creditHold: 1,
    creditsCharged: null,
    gitCommit: null,
    archive: null,
    archiveBytes: null,
    lastLogLine: null,
    downloadedAt: null,
    removed: false,
    ...fields,
  };
}
