import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { processIdentity } from '../../../../src/core/processes/processTree.ts';
import { OutputLog } from '../../../../src/service/runner/outputLog.ts';
import { runProcess } from '../../../../src/service/runner/runProcess.ts';

test('a program whose start cannot be noted does not go on', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-run-'));
  t.after(() => rm(folder, { recursive: true }));
  const output = new OutputLog(join(folder, 'output'), 1_000);
  let pid = 0;
  const onStart = (started: number): never => {
    pid = started;
    throw new Error('the disk is full');
  };
  const limits = { jobId: 'none', limitMs: 60_000, killGraceMs: 300, signal: new AbortController().signal };
  const call = { file: process.execPath, args: ['-e', 'setTimeout(() => {}, 600000)'], cwd: folder, env: {} };
  await assert.rejects(runProcess(call, { ...limits, resources: undefined }, { output, onStart }), /the disk is full/);
  assert.equal(processIdentity(pid), undefined);
  output.close();
});
