import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { processIdentity } from '../../../../src/core/processes/processTree.ts';
import { OutputLog } from '../../../../src/service/runner/output/outputLog.ts';
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
  await assert.rejects(
    runProcess(call, { ...limits, confinement: undefined }, { output, onStart }),
    /the disk is full/,
  );
  assert.equal(processIdentity(pid), undefined);
  output.close();
});

// As bwrap does: it creates the first process of a sandbox, which waits for its release, and reports it a moment later.
const SLOW_SANDBOX = `#!/bin/sh
(read line <&5; echo ran; exec sleep 600) 3>&- 4>&- &
echo $! > "$(dirname "$0")/first"
sleep 0.3
echo "{ \\"child-pid\\": $! }" >&3
wait
`;

test('a time limit that ends before a sandbox has started its program leaves nothing of it', {
  skip: process.platform === 'linux' ? false : 'LINUX ONLY: SANDBOXES',
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-run-'));
  t.after(() => rm(folder, { recursive: true }));
  const program = join(folder, 'sandbox');
  await writeFile(program, SLOW_SANDBOX, { mode: 0o755 });
  for (const killGraceMs of [0, 300]) {
    const output = new OutputLog(join(folder, `output${killGraceMs}`), 1_000);
    const limits = { jobId: 'none', limitMs: 100, killGraceMs, confinement: undefined };
    const call = {
      file: '/bin/true',
      args: [],
      cwd: folder,
      env: {},
      sandbox: { program, options: [], maxProcesses: 64 },
    };
    const end = await runProcess(call, { ...limits, signal: new AbortController().signal }, { output });
    assert.equal(end.endedBy, 'limit');
    const first = Number(await readFile(join(folder, 'first'), 'utf8'));
    t.after(() => spawnSync('kill', ['-9', String(first)]));
    assert.equal(processIdentity(first), undefined, `with a grace period of ${killGraceMs} ms`);
    output.close();
  }
});
