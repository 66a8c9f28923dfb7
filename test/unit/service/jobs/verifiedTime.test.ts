import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { verifiedTimes } from '../../../../src/service/jobs/verifiedTime.ts';
import { jobFolder } from '../../../../src/service/jobFiles/jobFolder.ts';

const START = 1_700_000_000_000;

test('a job whose runner is gone ran until its last sign of life, and not longer than it can have', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'farwharf-verified-'));
  t.after(() => rmSync(path, { recursive: true }));
  const folder = jobFolder(path);
  const seconds = async (
    lastSeen: number | undefined,
    { now = START + 60_000, startedAt = START }: { now?: number; startedAt?: number | null } = {},
  ) => {
    const job = { startedAt, maxRuntime: 100, frozen: null, frozenMs: null, holdSeconds: null };
    return (await verifiedTimes(job, folder, { lastSeen, now })).ranSeconds;
  };
  const beatAt = (ms: number): void => utimesSync(folder.started, new Date(ms), new Date(ms));

  assert.equal(await seconds(undefined), 0);
  assert.equal(await seconds(START + 7_000), 7);
  writeFileSync(folder.started, '{}');
  beatAt(START + 20_000);
  assert.equal(await seconds(undefined), 20);
  assert.equal(await seconds(START + 30_000), 30);
  assert.equal(await seconds(START + 30_000, { startedAt: null }), 0);
  // Times that a job could give the file.
  beatAt(0);
  assert.equal(await seconds(START + 30_000), 30);
  assert.equal(await seconds(undefined), 0);
  beatAt(START + 1e9);
  assert.equal(await seconds(undefined), 60);
  assert.equal(await seconds(undefined, { now: START + 2e9 }), 100);
  rmSync(folder.started);
  symlinkSync('/proc/self/status', folder.started);
  assert.ok((await seconds(undefined, { now: START + 5_000 })) <= 5);
});
