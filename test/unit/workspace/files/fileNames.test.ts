import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBatchScriptName } from '../../../../src/workspace/scripts/scriptKinds.ts';
import { nameBeside, safeLabel } from '../../../../src/workspace/files/nameRules.ts';
import { isBinaryName, isPackedName } from '../../../../src/workspace/files/fileKinds.ts';

test('a name beside another has its label, from the second on its number, and the same extension', () => {
  assert.equal(nameBeside('plots/loss.png', 'job 7', 1), 'plots/loss (job 7).png');
  assert.equal(nameBeside('plots/loss.png', 'job 7', 2), 'plots/loss (job 7) 2.png');
  assert.equal(nameBeside('README', 'job 7', 1), 'README (job 7)');
  assert.equal(nameBeside('.env', 'job 7', 3), '.env (job 7) 3');
  assert.equal(nameBeside('a.tar.gz', 'x', 1), 'a.tar (x).gz');
});

test('a label is a part of a file name, whatever a service calls its jobs', () => {
  assert.deepEqual(['job_1-Z.x', '.hidden', '../../etc', 'a b/c', 'é', '', 'x'.repeat(65)].map(safeLabel), [
    'job_1-Z.x',
    '_hidden',
    '_._.._etc',
    'a_b_c',
    '_',
    '_',
    'x'.repeat(64),
  ]);
});

test('batch scripts of Slurm are known by their extension, in any case', () => {
  assert.deepEqual(['a.sbatch', 'x/b.SLURM', 'a.sh', 'sbatch', 'a.sbatch.txt', '.slurm'].map(isBatchScriptName), [
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('files that are compressed already, and files of binary data, are known by their extension', () => {
  for (const name of [
    'a.png',
    'b.JPG',
    'c.jpeg',
    'x/y.tar.gz',
    'm.safetensors',
    'v.mp4',
    'f.woff2',
    'f.woff',
    'e.vsix',
    's.mp3',
  ]) {
    assert.deepEqual([isPackedName(name), isBinaryName(name)], [true, false], name);
  }
  for (const name of ['a.so', 'b.PYC', 'c.tar', 'd.sqlite3', 'd.sqlite', 'e.o', 'f.tif', 'f.tiff', 'w.wasm']) {
    assert.deepEqual([isPackedName(name), isBinaryName(name)], [false, true], name);
  }
  for (const name of ['a.py', 'png', 'a.png.txt', 'apng', 'a.oo', 'a.sqlite4', 'a.gz2', 'x.png/y']) {
    assert.deepEqual([isPackedName(name), isBinaryName(name)], [false, false], name);
  }
});
