import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { readStat } from '../../../../src/core/processes/procfs.ts';

const skip = process.platform !== 'linux' && 'ONLY ON LINUX';

for (const { env, hasNoVariables } of [
  { env: {}, hasNoVariables: true },
  { env: { NAME: '' }, hasNoVariables: false },
]) {
  test(`a process with ${Object.keys(env).length} variables ${hasNoVariables ? 'never has any' : 'has one'}`, {
    skip,
  }, async (t) => {
    const child = spawn('/bin/sh', ['-c', 'echo started; read line'], { env });
    t.after(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    assert.equal(readStat(child.pid ?? assert.fail())?.hasNoVariables, hasNoVariables);
  });
}
