import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { AppError } from '../../../../src/core/errors.ts';
import { slurm } from '../../../../src/service/slurm/slurmCommand.ts';

/** The code of the error of an sbatch that fails with these words. */
async function codeFor(t: TestContext, words: string): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-sbatch-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = process.env['PATH'];
  writeFileSync(join(folder, 'sbatch'), `#!/bin/sh\necho 'sbatch: error: ${words}' >&2\nexit 1\n`, { mode: 0o755 });
  process.env['PATH'] = `${folder}:${path}`;
  try {
    await slurm('sbatch', []);
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  } finally {
    process.env['PATH'] = path;
  }
  return undefined;
}

test('a connection that fails is no refusal, in whatever words, because the cluster may have taken the job', async (t) => {
  // The system's words for network errors, and Slurm's own for a controller that is away, stands by or dies meanwhile.
  const words = [
    'Unable to contact slurm controller (connect failure)',
    'Batch job submission failed: Connection reset by peer',
    'Batch job submission failed: Broken pipe',
    'Batch job submission failed: No route to host',
    'Batch job submission failed: Network is unreachable',
    'Batch job submission failed: Software caused connection abort',
    'Batch job submission failed: Socket timed out on send/recv operation',
    'Batch job submission failed: Zero Bytes were transmitted or received',
    'Batch job submission failed: Message send failure',
    'Batch job submission failed: Message receive failure',
    'Batch job submission failed: Communication shutdown failure',
    'Batch job submission failed: Header lengths are longer than data received',
    'Batch job submission failed: Slurm backup controller in standby mode',
  ];
  for (const each of words) assert.equal(await codeFor(t, each), 'unreachable', each);
});

test('what the cluster says of the job itself is a refusal', async (t) => {
  const words = ['Batch job submission failed: Invalid partition name specified', 'Invalid --gres specification'];
  for (const each of words) assert.equal(await codeFor(t, each), 'refused', each);
});
