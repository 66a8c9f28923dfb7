import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, uptime } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { TIMES } from '../../../random.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { runningProcesses } from '../../../../src/core/processes/procfs.ts';
import {
  bootIdentity,
  endProcesses,
  killProcess,
  processIdentity,
} from '../../../../src/core/processes/processTree.ts';

const PYTHON = '/usr/bin/python3';
const MAX_RSS_KB = 600_000;
const MODULE = JSON.stringify(new URL('../../../../src/core/processes/processTree.ts', import.meta.url).href);
const PROCFS = JSON.stringify(new URL('../../../../src/core/processes/procfs.ts', import.meta.url).href);

// Tells the kernel that its environment is a gigabyte and a half which were never written (prctl(2), PR_SET_MM_MAP).
const LONG_ENVIRONMENT = `
import ctypes, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.sbrk.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
size = 3 << 29
start = libc.mmap(None, size, 1, 0x4022, -1, 0)
fields = open('/proc/self/stat').read().rsplit(')', 1)[1].split()
at = lambda number: int(fields[number - 3])
numbers = [at(26), at(27), at(45), at(46), at(47), libc.sbrk(0), at(28), at(48), at(49), start, start + size]
layout = struct.pack('<11QQIi', *numbers, 0, 0, -1)
print(libc.prctl(35, 14, layout, len(layout), 0), flush=True)
time.sleep(600)
`;

// Ends its first thread (exit(2)) while another one continues.
const WITHOUT_FIRST_THREAD = `
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
print('started', flush=True)
ctypes.CDLL(None).syscall(60, 0)
`;

const onlyPosix = { skip: process.platform === 'win32' && 'NOT ON WINDOWS: it has no signals' };
const isPossible = process.platform === 'linux' && process.arch === 'x64' && existsSync(PYTHON);

test('looking for the processes of a job costs no more for one that says its environment is gigabytes long', {
  skip: !isPossible,
}, async (t) => {
  const hostile = spawn(PYTHON, ['-c', LONG_ENVIRONMENT], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => hostile.kill('SIGKILL'));
  const [line] = (await once(hostile.stdout, 'data')) as [Buffer];
  if (line.toString().trim() !== '0') return t.skip('this kernel does not let a process say that');
  const look = `
    const { endProcesses } = await import(${MODULE});
    await endProcesses({ group: undefined, mark: 'NOBODY_HAS_THIS=1' }, 0);
    console.log(process.resourceUsage().maxRSS);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', look]);
  assert.ok(Number(stdout) < MAX_RSS_KB, `${stdout.trim()} KB were used`);
  assert.equal(hostile.exitCode, null);
});

for (const { rounds, beside } of [
  { rounds: 15 * TIMES, beside: 0 },
  { rounds: 2 * TIMES, beside: 8 },
]) {
  test(`a process that starts itself again and again, in a session of its own, is stopped beside ${beside} others that do`, {
    skip: process.platform !== 'linux' && 'only Linux shows the environment of a process',
  }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'farwharf-tree-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const script = join(folder, 'again.sh');
    writeFileSync(script, 'exec sh "$0"\n');
    const others = Array.from({ length: beside }, () => spawn('sh', [script], { stdio: 'ignore' }));
    t.after(() => others.forEach((other) => other.kill('SIGKILL')));
    for (let round = 0; round < rounds; round += 1) {
      const mark = `FARWHARF_TEST_MARK=${randomUUID()}`;
      const env = { PATH: process.env['PATH'], FARWHARF_TEST_MARK: mark.split('=')[1] };
      const child = spawn('sh', [script], { detached: true, stdio: 'ignore', env });
      const exited = once(child, 'exit');
      await endProcesses({ group: undefined, mark }, 1_000);
      const { pid = assert.fail() } = child;
      if (processIdentity(pid) !== undefined) {
        process.kill(pid, 'SIGKILL');
        assert.fail(`it still runs in round ${round}`);
      }
      await exited;
    }
  });
}

test('a process that has the mark itself stops the others with it, and continues', {
  skip: process.platform !== 'linux' && 'only Linux shows the environment of a process',
}, async (t) => {
  const mark = randomUUID();
  const env = { PATH: process.env['PATH'], FARWHARF_TEST_MARK: mark };
  const other = spawn('sleep', ['600'], { stdio: 'ignore', env });
  t.after(() => other.kill('SIGKILL'));
  const exited = once(other, 'exit');
  const end = `
    const { endProcesses } = await import(${MODULE});
    await endProcesses({ group: undefined, mark: 'FARWHARF_TEST_MARK=${mark}' }, 5_000);
    console.log('continues');
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', end], { env });
  assert.equal(stdout, 'continues\n');
  assert.deepEqual(await exited, [null, 'SIGTERM']);
});

test('a process whose first thread has ended is found by its mark and stopped', { skip: !isPossible }, async (t) => {
  const mark = randomUUID();
  const env = { PATH: process.env['PATH'], FARWHARF_TEST_MARK: mark };
  const child = spawn(PYTHON, ['-c', WITHOUT_FIRST_THREAD], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  t.after(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  const { pid = assert.fail() } = child;
  while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) await sleep(5);
  assert.notEqual(processIdentity(pid), undefined);
  await endProcesses({ group: undefined, mark: `FARWHARF_TEST_MARK=${mark}` }, 5_000);
  assert.deepEqual(await exited, [null, 'SIGTERM']);
});

test('a process that is asked to stop has time to tidy up', onlyPosix, async (t) => {
  const mark = randomUUID();
  const env = { PATH: process.env['PATH'], FARWHARF_TEST_MARK: mark };
  const script = `trap 'sleep 0.3; echo tidy; exit 3' TERM; echo started; while :; do sleep 0.01; done`;
  const child = spawn('sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'inherit'], env });
  t.after(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const printed: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  await once(child.stdout, 'data');
  await endProcesses({ group: child.pid, mark: `FARWHARF_TEST_MARK=${mark}` }, 60_000);
  assert.deepEqual(await exited, [3, null]);
  assert.equal(printed.join(''), 'started\ntidy\n');
});

test('a process that replaces its environment when it is asked to stop is stopped all the same', {
  skip: process.platform !== 'linux' && 'only Linux shows the environment of a process',
}, async (t) => {
  const mark = randomUUID();
  const env = { PATH: process.env['PATH'], FARWHARF_TEST_MARK: mark };
  const script = `trap 'exec env -i "$(command -v sleep)" 600' TERM; echo started; sleep 600 & wait`;
  const child = spawn('sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'inherit'], env });
  t.after(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  await endProcesses({ group: undefined, mark: `FARWHARF_TEST_MARK=${mark}` }, 500);
  assert.equal(processIdentity(child.pid ?? 0), undefined);
  assert.deepEqual(await exited, [null, 'SIGKILL']);
});

test('a boot of this machine is the same whatever the clock is set to', {
  skip: process.platform !== 'linux' && 'only Linux has an ID for each boot',
}, (t) => {
  const before = bootIdentity();
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 24 * 3_600_000 });
  assert.equal(bootIdentity(), before);
});

/** A process in a group of its own, which runs a script for sh. */
async function startScript(t: TestContext, script: string): Promise<{ pid: number; exited: Promise<unknown[]> }> {
  const child = spawn('sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  return { pid: child.pid ?? assert.fail(), exited };
}

for (const platform of ['linux', 'darwin', 'win32']) {
  test(`a process has an identity on ${platform} as long as it is running`, {
    skip:
      (process.platform === 'win32' || (platform === 'linux' && process.platform !== 'linux')) && 'NOT ON THIS SYSTEM',
  }, async (t) => {
    const [first, second] = await Promise.all([1, 2].map(() => startScript(t, 'echo started; exec sleep 600')));
    assert.ok(first !== undefined && second !== undefined);
    const identity = processIdentity(first.pid, platform);
    assert.equal(processIdentity(first.pid, platform), identity);
    if (platform === 'linux') assert.match(identity ?? '', /^[0-9a-f-]{36}:\d+$/);
    if (platform === 'darwin') assert.match(identity ?? '', /^\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}$/);
    if (platform === 'win32') assert.equal(identity, 'unknown');
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    assert.equal(processIdentity(first.pid, platform), undefined);
  });
}

test('the identity of a process is the same in each language and time zone', {
  skip: process.platform === 'win32' && 'NOT ON WINDOWS: it has no ps',
}, (t) => {
  const before = { LC_ALL: process.env['LC_ALL'], TZ: process.env['TZ'] };
  t.after(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  const identity = processIdentity(process.pid, 'darwin');
  process.env['TZ'] = 'Asia/Tokyo';
  assert.equal(processIdentity(process.pid, 'darwin'), identity);
});

test('without an ID for it, a boot is known by its time', () => {
  assert.match(bootIdentity('darwin'), /^since \d+$/);
  const minutes = Number(bootIdentity('darwin').replace('since ', '')) * 2;
  assert.ok(Math.abs(minutes * 60 - (Date.now() / 1000 - uptime())) <= 120);
});

for (const platform of ['linux', 'darwin']) {
  test(`every process of a group is stopped on ${platform}, first asked to and then killed`, onlyPosix, async (t) => {
    if (platform === 'linux' && process.platform !== 'linux') return t.skip('ONLY ON LINUX');
    const tree = (group: number | undefined) => ({ group, mark: `FARWHARF_TEST_MARK=${randomUUID()}` });
    const polite = await startScript(t, 'sleep 600 & echo started; wait');
    await endProcesses(tree(polite.pid), 10_000, platform);
    assert.deepEqual(await polite.exited, [null, 'SIGTERM']);
    await endProcesses(tree(polite.pid), 10_000, platform);
    const deaf = await startScript(t, `trap '' TERM; echo started; while :; do sleep 600; done`);
    await endProcesses(tree(deaf.pid), 50, platform);
    assert.deepEqual(await deaf.exited, [null, 'SIGKILL']);
    const left = process.platform === 'linux' ? [...runningProcesses().values()] : [];
    assert.deepEqual(
      left.filter(({ group }) => group === deaf.pid),
      [],
    );
    await endProcesses(tree(undefined), 10_000, platform);
  });
}

test('on Windows a program of the system stops the tree of a process', onlyPosix, async (t) => {
  const bin = mkdtempSync(join(tmpdir(), 'farwharf-taskkill-'));
  const path = process.env['PATH'];
  t.after(() => {
    process.env['PATH'] = path;
    rmSync(bin, { recursive: true });
  });
  process.env['PATH'] = `${bin}:${path}`;
  const asked = join(bin, 'asked');
  const install = (script: string): void =>
    writeFileSync(join(bin, 'taskkill'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  install(`echo "$@" >> ${asked}`);
  await endProcesses({ group: 7, mark: 'A=1' }, 0, 'win32');
  await endProcesses({ group: undefined, mark: 'A=1' }, 0, 'win32');
  await endProcesses({ init: { pid: 8, identity: 'x' } }, 0, 'win32');
  assert.equal(readFileSync(asked, 'utf8'), '/pid 7 /T /F\n');
  install('exit 128');
  await endProcesses({ group: 7, mark: 'A=1' }, 0, 'win32');
});

test('only the process itself is killed, not a later one with the same ID', onlyPosix, async (t) => {
  const { pid, exited } = await startScript(t, 'echo started; exec sleep 600');
  killProcess({ pid, identity: 'another' });
  const identity = processIdentity(pid) ?? assert.fail();
  killProcess({ pid, identity });
  assert.deepEqual(await exited, [null, 'SIGKILL']);
  killProcess({ pid, identity });
});

test('a sandbox that has ended, or has no namespace of its own, has no processes to stop', {
  skip: process.platform !== 'linux' && 'ONLY ON LINUX',
}, async (t) => {
  const { pid, exited } = await startScript(t, 'echo started; exec sleep 600');
  const identity = processIdentity(pid) ?? assert.fail();
  await endProcesses({ init: undefined }, 0);
  await endProcesses({ init: { pid, identity: 'another' } }, 0);
  await endProcesses({ init: { pid, identity } }, 0);
  assert.equal(processIdentity(pid), identity);
  process.kill(pid, 'SIGKILL');
  await exited;
});

// In a sandbox of its own, so that whatever it stops by mistake is in there too.
const EMPTY_A_SANDBOX = `
  import { spawn } from 'node:child_process';
  import { once } from 'node:events';
  import { readFileSync } from 'node:fs';
  const { endProcesses, processIdentity } = await import(${MODULE});
  const { namespaceOf, processIds, readStat } = await import(${PROCFS});
  const script = 'sleep 600 & echo started; wait; exec sleep 600';
  const sandbox = spawn('unshare', ['-pf', '--kill-child', 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(sandbox.stdout, 'data');
  const pid = Number(readFileSync('/proc/' + sandbox.pid + '/task/' + sandbox.pid + '/children', 'utf8'));
  const identity = processIdentity(pid);
  // A process that was stopped is a zombie until its parent asks for its status.
  const isBeside = (each) => each !== pid && namespaceOf(each) === namespaceOf(pid) && readStat(each) !== undefined;
  const beside = () => processIds().filter(isBeside).length;
  const counts = [beside()];
  for (const each of ['another', identity]) {
    await endProcesses({ init: { pid, identity: each } }, 0);
    counts.push(beside());
  }
  const isOutsideRunning = sandbox.exitCode === null && sandbox.signalCode === null;
  console.log(JSON.stringify({ counts, isFirstRunning: processIdentity(pid) === identity, isOutsideRunning }));
  process.exit();
`;
const SANDBOX = ['-Urpf', '--mount-proc', '--kill-child'];

test('a sandbox is emptied but for its first process, unless that is a later one with the same ID', {
  skip: spawnSync('unshare', [...SANDBOX, 'true']).status !== 0 && 'ONLY ON LINUX with namespaces for users',
}, () => {
  const program = [process.execPath, '--input-type=module', '-e', EMPTY_A_SANDBOX];
  const { stdout, stderr } = spawnSync('unshare', [...SANDBOX, ...program], { encoding: 'utf8' });
  assert.deepEqual(
    JSON.parse(stdout || '{}'),
    { counts: [1, 1, 0], isFirstRunning: true, isOutsideRunning: true },
    stderr,
  );
});
