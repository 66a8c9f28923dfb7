import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { ownerState, processOwner } from '../../../../src/core/processes/processOwner.ts';

test('this process is running, and one that has ended or whose ID another has is not', async () => {
  const own = processOwner();
  assert.equal(ownerState(own), 'running');
  assert.equal(processOwner(), own);
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  const { pid } = child;
  await once(child, 'exit');
  const [place = '', , identity = ''] = own.split('-');
  assert.equal(ownerState(`${place}-${pid}-${identity}`), 'stopped');
  assert.equal(ownerState(`${place}-${process.pid}-00000000`), 'stopped');
});

test('nothing is known of a process on another machine, or of another text', () => {
  const [, ...rest] = processOwner().split('-');
  assert.equal(ownerState(['00000000', ...rest].join('-')), 'unknown');
  for (const text of ['', 'host-1-x', `${processOwner()}0`]) assert.equal(ownerState(text), 'unknown', text);
});
