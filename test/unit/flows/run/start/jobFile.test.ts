import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AppError } from '../../../../../src/core/errors.ts';
import { jobFileIn } from '../../../../../src/flows/run/start/jobRuns.ts';

test('the file of a job is found by the end of its path, and never outside of the folder', async (t) => {
  const outer = await mkdtemp(join(tmpdir(), 'farwharf-jobfile-'));
  t.after(() => rm(outer, { recursive: true, force: true }));
  const folder = join(outer, 'project');
  await mkdir(join(folder, 'flows'), { recursive: true });
  for (const path of ['secret.ts', 'project/flow.ts', 'project/flows/flow.ts']) await writeFile(join(outer, path), '');
  assert.equal(jobFileIn(folder, '/home/ada/project/flows/flow.ts'), 'flows/flow.ts');
  assert.equal(jobFileIn(folder, 'C:\\job7\\flow.ts'), 'flow.ts');
  assert.equal(jobFileIn(folder, '../project/flow.ts'), 'flow.ts');
  for (const path of ['../secret.ts', '/srv/../secret.ts', 'flows/../../secret.ts', '', 'flows', '/gone.ts']) {
    assert.throws(
      () => jobFileIn(folder, path),
      (error: AppError) => error.code === 'missing',
      path,
    );
  }
});
