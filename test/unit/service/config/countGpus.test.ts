import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { countGpus, gpuClasses } from '../../../../src/service/config/machineClasses.ts';

test('GPUs are counted as their drivers list them, and a machine without drivers has none', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-gpus-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [nvidia, amd, missing] = ['nvidia', 'amd', 'missing'].map((name) => join(folder, name));
  for (const address of ['0000:17:00.0', '0000:65:00.0'])
    mkdirSync(join(folder, 'nvidia', address), { recursive: true });
  for (const [node, units] of [0, 304, 304, 304].entries()) {
    mkdirSync(join(folder, 'amd', String(node)), { recursive: true });
    writeFileSync(join(folder, 'amd', String(node), 'properties'), `cpu_cores_count 8\nsimd_count ${units}\n`);
  }
  assert.equal(countGpus({ nvidia, amd: missing }), 2);
  assert.equal(countGpus({ nvidia: missing, amd }), 3);
  assert.equal(countGpus({ nvidia: missing, amd: missing }), 0);
});

test('a machine with GPUs is offered by the GPU, as a whole, and without GPUs', () => {
  const machine = { name: 'whole', description: '', cpus: 30, memory_gb: 125.8, gpus: 4, shared: true };
  assert.deepEqual(
    gpuClasses(machine).map(({ name, cpus, memory_gb: memory, gpus, shared }) => [name, cpus, memory, gpus, shared]),
    [
      ['gpu', 7, 31.4, 1, undefined],
      ['all-gpus', 30, 125.8, 4, undefined],
      ['cpu', 4, 16.7, 0, undefined],
    ],
  );
  const small = gpuClasses({ ...machine, cpus: 2, memory_gb: 8, gpus: 1 });
  assert.deepEqual(
    small.map(({ name, cpus, memory_gb: memory }) => [name, cpus, memory]),
    [
      ['gpu', 2, 8],
      ['cpu', 2, 8],
    ],
  );
});
