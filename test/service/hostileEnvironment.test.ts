import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isolateJobs, isolationIsMissing } from './support/isolation.ts';
import { packageThatRuns, skipWithoutPython } from './support/packages.ts';
import { startService, temporaryFolder, testConfig } from './support/service.ts';

// What an account chooses for its jobs alone, and what would act on any program that it reaches.
const MARK = 'chosen-by-the-account';

const missing = await isolationIsMissing();

interface GivenProcess {
  readonly command: string;
  readonly isInSandbox: boolean;
}

/** The processes that hold a text in their environment or command line, as far as this user may read them. */
function processesGiven(text: string): readonly GivenProcess[] {
  const own = readlinkSync('/proc/self/ns/pid');
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    const [environment, command] = [read(`/proc/${pid}/environ`), read(`/proc/${pid}/cmdline`)];
    if (!`${environment}\0${command}`.includes(text)) return [];
    try {
      const isInSandbox = readlinkSync(`/proc/${pid}/ns/pid`) !== own;
      return [{ command: command.replaceAll('\0', ' ').trim(), isInSandbox }];
    } catch {
      return []; // it has ended
    }
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it has ended
  }
}

describe('the variables of an isolated job', () => {
  if (missing !== undefined) {
    test('are not tested here', (t) => t.skip(`NO ISOLATION: ${missing}`));
    return;
  }
  isolateJobs();

  test("a job's LD_PRELOAD and LD_DEBUG_OUTPUT never reach bubblewrap", async (t) => {
    const data = await temporaryFolder(t);
    const folder = await temporaryFolder(t);
    const service = await startService(t, { data });
    // The loader writes one file for each program that it starts with these: outside of the sandbox into this folder.
    const env = { LD_PRELOAD: './x.so', LD_DEBUG: 'files', LD_DEBUG_OUTPUT: join(folder, 'reached') };
    const id = await service.submit({ 'a.sh': 'echo ran' }, { script: 'a.sh', venv: { env } });
    await service.untilEnd(id);
    assert.deepEqual(readdirSync(folder), []);
    // They did reach the job, where they harm nobody else.
    assert.match(await service.output(id, 'stderr'), /x\.so.*LD_PRELOAD/);
  });

  test('are in no environment and on no command line outside of its sandbox', async (t) => {
    const service = await startService(t);
    const env = { SECRET: MARK, BASH_ENV: `/x/${MARK}`, NODE_OPTIONS: `--title=${MARK}`, PYTHONSTARTUP: MARK };
    const id = await service.submit(
      { 'a.sh': 'echo "$SECRET"; exec sleep 600.125' },
      { script: 'a.sh', venv: { env } },
    );
    await service.untilRunning(id);
    const isJob = ({ command, isInSandbox }: GivenProcess): boolean =>
      isInSandbox && command.startsWith('sleep 600.125');
    while (!processesGiven(MARK).some(isJob)) await sleep(20);
    const outside = processesGiven(MARK).filter(({ isInSandbox }) => !isInSandbox);
    assert.deepEqual(outside, []);
    await service.json(`/v1/jobs/${id}`, { method: 'DELETE' });
  });

  test('arrive as they were sent, as many as there may be, and with nothing else of the service', async (t) => {
    const service = await startService(t);
    const value = `'"\n--bind / /\n\\ $(id) %s ü €`;
    const many = Object.fromEntries(Array.from({ length: 990 }, (_, index) => [`V${index}`, 'x'.repeat(600)]));
    const script = `const { readdirSync } = require('node:fs');
      const expected = JSON.parse(process.argv[2]);
      const isSame = Object.entries(expected).every(([name, value]) => process.env[name] === value);
      const count = Object.keys(process.env).filter((name) => /^V\\d+$/.test(name)).length;
      console.log(isSame, count, Object.keys(process.env).filter((name) => name.startsWith('FARWHARF_')).sort().join());`;
    const env = { ODD: value, EMPTY: '', ...many };
    const expected = JSON.stringify({ ODD: value, EMPTY: '' }).replaceAll("'", `'\\''`);
    const id = await service.submit(
      { 'a.cjs.js': script },
      { script: `a.cjs.js '${expected.replaceAll('\n', ' ')}'`, venv: { env } },
    );
    const job = await service.untilEnd(id);
    assert.equal(job.state, 'succeeded', job.reason ?? '');
    assert.equal(await service.output(id), 'true 990 FARWHARF_ARTIFACTS,FARWHARF_JOB_ID,FARWHARF_NODE\n');
  });

  test('open no door: the job has its standard streams and no other file of the runner', async (t) => {
    const service = await startService(t);
    const script = 'for fd in 0 1 2 3 4 5 6; do [ -e /proc/$$/fd/$fd ] && echo $fd; done; exit 0';
    const id = await service.submit({ 'a.sh': script }, { script: 'a.sh' });
    await service.untilEnd(id);
    assert.equal(await service.output(id), '0\n1\n2\n');
  });

  test('a first line of a script shows an account nothing about programs outside of its sandbox', async (t) => {
    const service = await startService(t);
    const folder = await temporaryFolder(t);
    await writeFile(join(folder, 'present'), '', { mode: 0o755 });
    const reasons = await Promise.all(
      ['present', 'absent'].map(async (name) => {
        const script = { text: `#!${join(folder, name)}\n`, mode: 0o755 };
        const id = await service.submit({ run: script }, { script: 'run' });
        return (await service.untilEnd(id)).reason?.replaceAll(name, 'NAME');
      }),
    );
    assert.equal(reasons[0], reasons[1]);
    assert.match(reasons[0] ?? '', /^The first line of run names .*NAME, which does not exist on the machine/);
  });

  test('a link that one program of a job leaves does not lead the mounts of the next outside of the sandbox', {
    skip: skipWithoutPython,
  }, async (t) => {
    const [shared, outside] = [await temporaryFolder(t), await temporaryFolder(t)];
    const data = join(shared, 'data');
    await mkdir(data);
    const service = await startService(t, { config: testConfig({ read_only: [data] }) });
    // The package is built before the script runs. bwrap keeps the machine's own files at /oldroot while it mounts.
    const leave = `os.rename('${shared}', '/tmp/away'); os.symlink('/oldroot${outside}', '${shared}')`;
    const files = {
      ...packageThatRuns(`import os\nif not os.path.islink('${shared}'): ${leave}`),
      'a.sh': 'python -c "import tiny; print(tiny.VALUE)"',
    };
    const venv = { python: 'python3', requirements: ['./tiny'], env: { PIP_NO_INDEX: '1' } };
    const id = await service.submit(files, { script: 'a.sh', venv });
    const job = await service.untilEnd(id);
    assert.match(await service.output(id), /\n42\n$/, `${job.reason}`);
    assert.deepEqual(readdirSync(outside), []);
  });
});

const REFUSED: readonly [what: string, meta: object, message: RegExp][] = [
  ['a NUL in a variable', { venv: { env: { A: 'x\0--bind\0/\0/' } } }, /venv\.env\.A: must not contain NUL/],
  ['a NUL in the name of a variable', { venv: { env: { 'A\0B': 'x' } } }, /venv\.env/],
  ['a line feed in the name of a variable', { venv: { env: { 'A\nLD_PRELOAD': 'x' } } }, /venv\.env/],
  ['an equals sign in the name of a variable', { venv: { env: { 'A=B': 'x' } } }, /venv\.env/],
  ['a variable of the service', { venv: { env: { FARWHARF_JOB_ID: 'x' } } }, /venv\.env/],
  ['a variable that no program can be given', { venv: { env: { A: 'x'.repeat(131_072) } } }, /below 128 KB/],
  ['variables that no program can be given', { venv: { env: manyVariables(10, 100_000) } }, /below 640 KB/],
  ['too many variables', { venv: { env: manyVariables(1_001, 1) } }, /at most 1000 variables/],
  ['a Python outside of the search path', { venv: { python: '../x' } }, /venv\.python/],
  ['a Python that is an option', { venv: { python: '--help' } }, /venv\.python/],
  ['requirements outside of the folder', { venv: { requirements: 'x/../../../etc/passwd' } }, /inside the folder/],
  ['absolute requirements', { venv: { requirements: '/etc/passwd' } }, /inside the folder/],
  ['a NUL in the command', { script: 'a.sh a\0b' }, /script/],
  ['a script outside of the folder', { script: '../a.sh' }, /script/],
];

function manyVariables(count: number, length: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`V${index}`, 'x'.repeat(length)]));
}

test('what an account may not choose for its job is refused before there is a job', async (t) => {
  const service = await startService(t);
  for (const [what, meta, message] of REFUSED) {
    const response = await service.send({ 'a.sh': '' }, { script: 'a.sh', ...meta });
    const { detail } = (await response.json()) as { detail: string };
    assert.equal(response.status, 400, what);
    assert.match(detail, message, what);
  }
});

test('a script whose name is an option of what starts it is a script', async (t) => {
  const service = await startService(t);
  for (const name of ['--help', '-c.sh', '--version.py', '--eval.js']) {
    const text = name.endsWith('.js')
      ? 'console.log("ran")'
      : name.endsWith('.py')
        ? 'print("ran")'
        : '#!/bin/sh\necho ran\n';
    const id = await service.submit({ [name]: { text, mode: 0o755 } }, { script: name });
    const job = await service.untilEnd(id);
    if (name.endsWith('.py') && /python3 was not found/.test(job.reason ?? '')) continue;
    assert.equal(await service.output(id), 'ran\n', name);
  }
});
