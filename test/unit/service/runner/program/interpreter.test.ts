import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { JobPackages } from '../../../../../src/service/runner/environment/jobPackages.ts';
import {
  installedKinds,
  programFor,
  programInContainer,
} from '../../../../../src/service/runner/program/interpreter.ts';

const workspace = '/job';
const script = (path: string, first = '') => ({ path, workspace, start: Buffer.from(first), args: ['1'] });

/** A machine with these programs, and packages of Python that come first. */
function machine(t: TestContext, programs: readonly string[], tool: JobPackages['tool'] = 'pip') {
  const root = mkdtempSync(join(tmpdir(), 'farwharf-machine-'));
  t.after(() => rmSync(root, { recursive: true }));
  const packages: JobPackages = { tool, path: join(root, 'env'), access: 'read-only' };
  for (const path of ['env/bin/python', 'env/bin/python3', ...programs]) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), '', { mode: 0o755 });
  }
  const own = join(root, 'bin');
  return { root, own, packages, first: [join(root, 'env', 'bin'), own].join(delimiter) };
}

test('a Python script gets the Python of the packages, except for a version that its first line names', {
  skip: process.platform === 'win32',
}, (t) => {
  const { root, packages, first } = machine(t, ['bin/python3', 'bin/python3.9']);
  const on = { searchPath: first, packages, isVisible: () => true };
  const file = (line: string) => programFor(script('a.py', line), on).file;
  const own = join(root, 'env', 'bin', 'python3');
  for (const line of ['', '#!/usr/bin/env python3', '#!/usr/bin/env python', '#!/opt/none/python3', '#!python3\r\n'])
    assert.equal(file(line), own, line);
  assert.equal(file('#!/usr/bin/env python3.9'), join(root, 'bin', 'python3.9'));
  const bare = { ...on, searchPath: join(root, 'bin'), packages: undefined };
  assert.equal(
    programFor(script('a.py', `#!${join(root, 'bin', 'python3')} -u`), bare).file,
    join(root, 'bin', 'python3'),
  );
  const { args } = programFor(script('a.py', '#!/usr/bin/env -S python3 -u'), on);
  assert.deepEqual(args, ['-u', '/job/a.py', '1']);
});

test('a program that the job cannot see is not there, and the file system is not asked', {
  skip: process.platform === 'win32',
}, (t) => {
  const { root, own } = machine(t, ['bin/tool']);
  const hidden = { searchPath: own, packages: undefined, isVisible: () => false };
  const line = `#!${join(root, 'bin', 'tool')}`;
  assert.throws(() => programFor(script('a', line), hidden), { code: 'missing', message: /does not exist/ });
  assert.equal(programFor(script('a', line), { ...hidden, isVisible: () => true }).file, join(root, 'bin', 'tool'));
});

test('node is the one of the search path, else the one that runs this', (t) => {
  const { root, own } = machine(t, ['bin/node']);
  const find = (searchPath: string) =>
    programFor(script('a', '#!/usr/bin/env node'), { searchPath, packages: undefined, isVisible: () => true }).file;
  if (process.platform !== 'win32') assert.equal(find(own), join(root, 'bin', 'node'));
  assert.equal(find('/nowhere'), process.execPath);
});

test('a container looks for programs itself, but has the Python of the packages', () => {
  const packages: JobPackages = { tool: 'pip', path: '/env', access: 'writable' };
  const call = (path: string, first: string, own?: JobPackages) => {
    const { file, args } = programInContainer(script(path, first), own);
    return [file, ...args];
  };
  assert.deepEqual(call('a.py', ''), ['python3', '/job/a.py', '1']);
  assert.deepEqual(call('a.py', '', packages), ['/env/bin/python', '/job/a.py', '1']);
  assert.deepEqual(call('a', '#!/usr/bin/env -S python3 -u', packages), ['/env/bin/python', '-u', '/job/a', '1']);
  assert.deepEqual(call('a', '#!/usr/bin/python3', packages), ['/env/bin/python', '/job/a', '1']);
  assert.deepEqual(call('a.sh', '#!/bin/bash -e\r\n'), ['/bin/bash', '-e', '/job/a.sh', '1']);
  assert.deepEqual(call('a.R', ''), ['Rscript', '/job/a.R', '1']);
  assert.deepEqual(call('a.ts', ''), ['node', '/job/a.ts', '1']);
  assert.deepEqual(call('tool', ''), ['/job/tool', '1']);
  assert.deepEqual(call('sub/Makefile', ''), ['make', '-C', '/job/sub', '-f', 'Makefile', '1']);
});

test('a machine has the kinds of scripts whose programs it has', { skip: process.platform === 'win32' }, (t) => {
  const { own } = machine(t, ['bin/sh', 'bin/Rscript', 'bin/gmake']);
  assert.deepEqual(installedKinds(own), ['shell', 'javascript', 'typescript', 'r', 'make']);
  assert.deepEqual(installedKinds('/nowhere'), ['javascript', 'typescript']);
});
