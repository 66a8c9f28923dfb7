import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readBatch, withStarted } from '../../../../src/jobs/submit/scriptTerms.ts';
import { memoryOf } from '../../../../src/jobs/plan/draft.ts';

const DRAFT = { script: 'a.py', maxRuntime: 3600, machineClass: 'usual', include: [], exclude: [] };

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-batch-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'job.sbatch'), '#!/bin/sh\n#SBATCH -t 5 -A vision -c 2\necho\n');
  await writeFile(join(folder, 'many.sh'), '#!/bin/sh\n#SBATCH -a 1-4\necho\n');
  await writeFile(join(folder, 'plain.sh'), '#!/bin/sh\necho\n');
  return folder;
}

test('a picked script brings the terms of its #SBATCH lines, and another one leaves them', async (t) => {
  const folder = await folderOf(t);
  const batch = await withStarted(folder, DRAFT, { script: 'job.sbatch 1 2' });
  assert.deepEqual(
    [batch.script, batch.maxRuntime, batch.project, batch.machineClass],
    ['job.sbatch 1 2', 300, 'vision', undefined],
  );
  assert.equal(batch.batch?.request?.cpus, 2);
  const plain = await withStarted(folder, batch, { script: 'plain.sh' });
  assert.equal(plain.batch, undefined);
  const array = await withStarted(folder, DRAFT, { script: 'many.sh' });
  assert.match(array.batch?.remarks.find(({ isFatal }) => isFatal)?.reason ?? '', /Only one of 4 tasks would be sent/);
});

test('only scripts in the folder are read', async (t) => {
  const folder = await folderOf(t);
  assert.equal((await readBatch(folder, { script: 'many.sh' }))?.combinations.length, 4);
  assert.equal(await readBatch(join(folder, 'inner'), { script: '../job.sbatch' }), undefined);
  assert.equal(await readBatch(folder, { script: 'missing.sbatch' }), undefined);
  assert.equal(await readBatch(folder, { script: '' }), undefined);
  for (const command of [
    ['bash', '../job.sbatch'],
    ['bash', '-c', 'job.sbatch'],
    ['env', 'bash', 'job.sbatch'],
    ['bash'],
  ]) {
    assert.equal(await readBatch(join(folder, 'inner'), { script: '', command }), undefined, command.join(' '));
  }
});

test('the terms of a batch script are not those of the next submit', async (t) => {
  const draft = await withStarted(await folderOf(t), DRAFT, { script: 'job.sbatch' });
  const stored = memoryOf(draft, undefined, { maxRuntime: 60, machineClass: 'usual' });
  assert.deepEqual([stored.maxRuntime, stored.machineClass, stored.project], [60, 'usual', undefined]);
});
