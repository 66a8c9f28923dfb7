import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { allowedCores, CpuShares } from '../../../../src/service/placement/cpuShares.ts';

test('jobs get cores that the service may use, those with the fewest jobs first', () => {
  const shares = new CpuShares([4, 6, 7]);
  assert.deepEqual(shares.take('a', 2), [4, 6]);
  assert.deepEqual(shares.take('b', 1), [7]);
  assert.deepEqual(shares.take('c', 2), [4, 6]);
  assert.deepEqual(shares.take('d', 2), [4, 7]);
  shares.release('a');
  shares.release('c');
  assert.deepEqual(shares.take('e', 1), [6]);
  assert.equal(shares.take('f', 3), undefined);
});

test('a service that is bound to some cores knows which', (t) => {
  const last = allowedCores().at(-1);
  const source = join(import.meta.dirname, '../../../../src/service/placement/cpuShares.ts');
  const script = `import { allowedCores } from ${JSON.stringify(source)}; console.log(JSON.stringify(allowedCores()));`;
  const args = ['--cpu-list', String(last), process.execPath, '--input-type=module', '--eval', script];
  const { error, stdout } = spawnSync('/usr/bin/taskset', args, { encoding: 'utf8' });
  if (error !== undefined) return t.skip('NO taskset ON THIS MACHINE');
  assert.deepEqual(JSON.parse(stdout), [last]);
});
