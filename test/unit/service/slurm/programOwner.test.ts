import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { changeableByJobs } from '../../../../src/service/slurm/slurmKind.ts';

test('a program that jobs of the cluster could replace is named', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-program-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = join(folder, 'cli.mjs');
  writeFileSync(program, '', { mode: 0o644 });
  const owner = statSync(program).uid;
  const other = owner + 1;
  chmodSync(folder, 0o755);
  assert.equal(changeableByJobs([program], other), undefined);
  if (owner !== 0) assert.match(changeableByJobs([program], owner) ?? '', /make root the owner/);
  for (const [path, mode] of [
    [folder, 0o777],
    [program, 0o666],
  ] as const) {
    const before = statSync(path).mode;
    chmodSync(path, mode);
    assert.ok(changeableByJobs([program], other)?.includes(path), path);
    chmodSync(path, before);
  }
  assert.equal(changeableByJobs([program], 0), undefined);
});
