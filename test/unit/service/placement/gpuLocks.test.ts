import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { findProgram } from '../../../../src/core/processes/findProgram.ts';
import { silentLogger } from '../../../../src/core/log.ts';
import { newLockLimit, PRLIMIT } from '../../../../src/core/processes/lockLimit.ts';
import { jobProcessTag } from '../../../../src/service/jobFiles/jobProcessTag.ts';
import {
  type GpuLock,
  type GpuLocks,
  openGpuLocks,
  type TakenGpu,
} from '../../../../src/service/placement/gpuLocks.ts';

const skip = process.platform === 'linux' ? false : 'LINUX ONLY: flock';
const UNTIL = Date.now() + 3_600_000;
const alone = { jobId: 'a', until: UNTIL, isShared: false };
const shared = { jobId: 'b', until: UNTIL, isShared: true };

function open(t: TestContext): { readonly locks: GpuLocks; readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-locks-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const locks = openGpuLocks(process.env['PATH'] ?? '', silentLogger, folder);
  assert.ok(locks);
  return { locks, folder };
}

function taken(lock: GpuLock | TakenGpu): GpuLock {
  assert.ok('release' in lock);
  return lock;
}

test('a GPU is for one job or for all that share it, and another service learns until when', { skip }, (t) => {
  const { locks } = open(t);
  const first = taken(locks.take('0', alone));
  assert.deepEqual(locks.take('0', { ...alone, jobId: 'c' }), { until: UNTIL });
  assert.deepEqual(locks.take('0', shared), { until: UNTIL });
  taken(locks.take('1', alone)).release();
  first.release();
  const both = [taken(locks.take('0', shared)), taken(locks.take('0', shared))];
  assert.ok(!('release' in locks.take('0', alone)));
  for (const each of both) each.release();
  taken(locks.take('0', alone)).release();
});

test('a lock lasts while the process has it that waits for the runner, after its service has ended', {
  skip,
}, async (t) => {
  const { locks } = open(t);
  const lock = taken(locks.take('0', alone));
  assert.ok(lock.descriptor);
  const child = spawn('/bin/sh', ['-c', 'read -r _; exit 0'], { stdio: ['pipe', 'ignore', 'ignore', lock.descriptor] });
  t.after(() => child.kill('SIGKILL'));
  lock.leave();
  assert.ok(!('release' in locks.take('0', { ...alone, jobId: 'c' })));
  const exited = once(child, 'exit');
  child.stdin?.end('\n');
  await exited;
  taken(locks.take('0', alone)).release();
});

test('what a job has left running still has its GPU, although its service and its runner were killed', {
  skip,
}, async (t) => {
  const { locks, folder } = open(t);
  const mark = newLockLimit(jobProcessTag('a'));
  if (mark === undefined) return t.skip('NO prlimit ON THIS MACHINE');
  taken(locks.take('0', alone)).leave();
  const child = spawn(PRLIMIT, [`--locks=${mark}`, '/bin/sh', '-c', 'echo runs; read -r _; exit 0'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  assert.deepEqual(locks.take('0', { ...alone, jobId: 'c' }), { until: UNTIL });
  const exited = once(child, 'exit');
  child.stdin?.end('\n');
  await exited;
  taken(locks.take('0', alone)).release();
  assert.equal(readFileSync(join(folder, '0'), 'utf8'), '');
});

test('a job finds its own GPU in use by its runner, which a service started just before it was killed', {
  skip,
}, async (t) => {
  const { locks } = open(t);
  const lock = taken(locks.take('0', alone));
  assert.ok(lock.descriptor);
  const runner = spawn('/bin/sh', ['-c', 'read -r _; exit 0'], {
    stdio: ['pipe', 'ignore', 'ignore', lock.descriptor],
  });
  t.after(() => runner.kill('SIGKILL'));
  lock.leave();
  const again = taken(locks.take('0', alone));
  assert.ok(!('release' in locks.take('0', { ...alone, jobId: 'c' })));
  again.release();
  assert.ok(!('release' in locks.take('0', { ...alone, jobId: 'c' })), 'the runner still has it');
});

test('every user of the machine can lock its GPUs, whatever this one hides from others', { skip }, (t) => {
  const folder = join(open(t).folder, 'new');
  const before = process.umask(0o077);
  t.after(() => process.umask(before));
  taken(openGpuLocks(process.env['PATH'] ?? '', silentLogger, folder)?.take('0', alone) ?? { until: 0 }).release();
  assert.deepEqual(
    [folder, join(folder, '0')].map((path) => statSync(path).mode & 0o7777),
    [0o1777, 0o666],
  );
});

test('the flock of a machine without util-linux works too, which has short options only', { skip }, (t) => {
  const { folder } = open(t);
  const real = findProgram('flock', process.env['PATH'] ?? '');
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'flock'), `#!/bin/sh\ncase "$*" in *--*) exit 1 ;; esac\nexec ${real} "$@"\n`, {
    mode: 0o755,
  });
  const locks = openGpuLocks(bin, silentLogger, folder);
  assert.ok(locks);
  const lock = taken(locks.take('0', alone));
  assert.ok(!('release' in locks.take('0', { ...alone, jobId: 'c' })));
  lock.release();
  taken(locks.take('0', shared)).release();
});

test('what another user put in the place of the lock is not touched, and no time of theirs is believed', {
  skip,
}, (t) => {
  const { locks, folder } = open(t);
  const target = join(folder, 'target');
  writeFileSync(target, 'precious');
  symlinkSync(target, join(folder, '0'));
  linkSync(target, join(folder, '1'));
  for (const name of ['0', '1']) assert.equal(taken(locks.take(name, alone)).descriptor, undefined);
  const link = join(folder, 'link');
  symlinkSync(folder, link);
  assert.equal(
    taken(openGpuLocks(process.env['PATH'] ?? '', silentLogger, link)?.take('2', alone) ?? { until: 0 }).descriptor,
    undefined,
  );
  assert.equal(readFileSync(target, 'utf8'), 'precious');
  const lock = taken(locks.take('3', alone));
  writeFileSync(join(folder, '3'), '{"until":1e300}');
  const other = locks.take('3', { ...alone, jobId: 'c' });
  assert.ok('until' in other && other.until < Date.now() + 120_000);
  lock.release();
});

test('a folder that cannot be used stops no job, and is reported once', { skip }, (t) => {
  const file = join(mkdtempSync(join(tmpdir(), 'farwharf-locks-')), 'file');
  t.after(() => rmSync(join(file, '..'), { recursive: true }));
  writeFileSync(file, '');
  const warnings: string[] = [];
  const log = { warn: (text: string) => void warnings.push(text) };
  const locks = openGpuLocks(process.env['PATH'] ?? '', log, file);
  assert.ok(locks);
  for (const jobId of ['a', 'b']) taken(locks.take('0', { ...alone, jobId })).release();
  assert.deepEqual(warnings, ['GPUs cannot be locked against other services of this machine']);
});
