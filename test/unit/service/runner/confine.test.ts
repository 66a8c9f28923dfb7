import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { confine } from '../../../../src/service/runner/confine.ts';
import { jobFolder } from '../../../../src/service/runner/jobFolder.ts';

test('a pipe in the place of a script is no program, and nobody waits for it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-confine-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'script');
  execFileSync('mkfifo', [file]);
  chmodSync(file, 0o755);
  const limits = { machineClass: 'cpu', memoryBytes: null, maxProcesses: 100, maxFileBytes: 1_000 };
  const call = { file, args: [], cwd: folder, env: {} };
  assert.throws(() => confine(call, jobFolder(folder), { sandbox: null, limits, cpus: null }), { code: 'EACCES' });
});
