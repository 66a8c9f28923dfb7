import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type JobRecord, newRecord } from '../../../src/jobs/ledger/record.ts';

/** A folder that is gone after the test. */
export function tempHome(t: { after(clean: () => void): void }): string {
  const home = mkdtempSync(join(tmpdir(), 'farwharf-jobs-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** Adds many jobs to the ledger of `home` in one transaction, because each on its own waits for the disk. */
export function insertAll(home: string, records: readonly JobRecord[]): void {
  const database = new DatabaseSync(join(home, 'jobs.sqlite'));
  try {
    const insert = database.prepare('INSERT INTO jobs (id, record) VALUES (?, ?)');
    database.exec('BEGIN IMMEDIATE');
    for (const record of records) insert.run(record.id, JSON.stringify(record));
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}

/** A job that the embedded service has accepted, with what the test cares about. */
export function makeRecord(fields: Partial<JobRecord> = {}): JobRecord {
  const id = randomUUID();
  return newRecord({
    id,
    host: 'local',
    jobId: `job-${id}`,
    state: 'queued',
    script: 'train.py',
    machineClass: 'local',
    creditsPerMinute: 0.1,
    maxRuntime: 600,
    folder: '/home/ada/model',
    createdAt: '2026-01-01T00:00:00.000Z',
    creditHold: 1,
    ...fields,
  });
}
