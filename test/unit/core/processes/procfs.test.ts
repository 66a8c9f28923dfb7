import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  environmentOf,
  namespaceOf,
  processIds,
  readStat,
  readText,
  runningProcesses,
} from '../../../../src/core/processes/procfs.ts';

const skip = process.platform !== 'linux' && 'ONLY ON LINUX';

for (const { variables, hasNoVariables } of [
  { variables: [], hasNoVariables: true },
  { variables: ['NAME='], hasNoVariables: false },
]) {
  test(`a process with ${variables.length} variables ${hasNoVariables ? 'never has any' : 'has one'}`, {
    skip,
  }, async (t) => {
    // Node.js would add its variable for coverage to the environment of a child.
    const child = spawn('env', ['-i', ...variables, '/bin/sh', '-c', 'echo started; read line']);
    t.after(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    assert.equal(readStat(child.pid ?? assert.fail())?.hasNoVariables, hasNoVariables);
  });
}

test('a process is listed with its group and the time of its start, and this one is not', { skip }, async (t) => {
  const child = spawn('/bin/sh', ['-c', 'echo started; read line'], { detached: true });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const { pid = assert.fail() } = child;
  const stat = readStat(pid) ?? assert.fail();
  assert.deepEqual([stat.group, stat.isKernelThread], [pid, false]);
  assert.match(stat.startTime, /^\d+$/);
  assert.ok(readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[21] === stat.startTime);
  const running = runningProcesses();
  assert.deepEqual(running.get(`${pid} ${stat.startTime}`), { pid, ...stat });
  const own = readStat(process.pid) ?? assert.fail();
  assert.equal(running.has(`${process.pid} ${own.startTime}`), false);
  const ids = processIds();
  assert.deepEqual([ids.includes(pid), ids.includes(process.pid), ids.every(Number.isInteger)], [true, false, true]);
});

test('a process that has ended, or never existed, has nothing', { skip }, async () => {
  const child = spawn('/bin/sh', ['-c', 'exit 0'], { stdio: 'ignore' });
  const { pid = assert.fail() } = child;
  await once(child, 'exit');
  for (const id of [pid, 2 ** 22 + 1]) {
    assert.deepEqual([readStat(id), namespaceOf(id), environmentOf(id)], [undefined, undefined, undefined]);
  }
  assert.equal(readText('/proc/no such file'), '');
});

test('a process that has ended and that nobody has waited for is not running', { skip }, async (t) => {
  // The shell is replaced by a program that waits for no child.
  const parent = spawn('/bin/sh', ['-c', 'sleep 600 & echo $!; exec sleep 600']);
  t.after(() => parent.kill('SIGKILL'));
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const zombie = Number(line.toString());
  t.after(() => process.kill(zombie, 'SIGKILL'));
  const until = async (path: string, pattern: RegExp): Promise<void> => {
    while (!pattern.test(readFileSync(path, 'utf8'))) await new Promise((resolve) => setImmediate(resolve));
  };
  await until(`/proc/${parent.pid}/cmdline`, /^sleep\0/);
  process.kill(zombie, 'SIGKILL');
  await until(`/proc/${zombie}/stat`, /\) Z /);
  assert.equal(readStat(zombie), undefined);
});

test('the environment of a process is read to the last variable', { skip }, async (t) => {
  const env = { FIRST: 'x'.repeat(100_000), LAST: 'é' };
  const child = spawn('/bin/sh', ['-c', 'echo started; read line'], { env });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const { pid = assert.fail() } = child;
  const variables = (environmentOf(pid) ?? '').split('\0');
  assert.ok(variables.includes(`FIRST=${env.FIRST}`) && variables.includes('LAST=é'));
  assert.equal(namespaceOf(pid), namespaceOf(process.pid));
  assert.match(namespaceOf(pid) ?? '', /^pid:\[\d+\]$/);
});

test('a kernel thread is known as one', { skip }, (t) => {
  const thread = [...runningProcesses().values()].find(({ isKernelThread }) => isKernelThread);
  if (thread === undefined) return t.skip('NOT TESTED: in a container there is no kernel thread');
  assert.equal(thread.hasNoVariables, false);
});
