import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIRST_LINE_BYTES, readShebang } from '../../../../src/workspace/scripts/shebang.ts';

const read = (text: string) => {
  const shebang = readShebang(Buffer.from(text));
  return shebang && [shebang.program, ...shebang.args, ...(shebang.isLookedUp ? ['looked up'] : [])];
};

test('a first line names a program by its path, with options', () => {
  assert.deepEqual(read('#!/bin/bash'), ['/bin/bash']);
  assert.deepEqual(read('#!/bin/bash -e\necho\n'), ['/bin/bash', '-e']);
  assert.deepEqual(read('#! \t /bin/bash   -l\t\n'), ['/bin/bash', '-l']);
  assert.deepEqual(read('#!/bin/bash -e -u\n'), ['/bin/bash', '-e', '-u']);
  assert.deepEqual(read('#!./tools/run\n'), ['./tools/run']);
});

test('env names a program that is looked up, whether it splits its words or not', () => {
  assert.deepEqual(read('#!/usr/bin/env python3\n'), ['python3', 'looked up']);
  assert.deepEqual(read('#!/usr/bin/env -S python3 -u\n'), ['python3', '-u', 'looked up']);
  assert.deepEqual(read('#!/usr/bin/env -Spython3 -u\n'), ['python3', '-u', 'looked up']);
  assert.deepEqual(read('#!/bin/env --split-string=bash -e\n'), ['bash', '-e', 'looked up']);
  assert.deepEqual(read('#!/usr/bin/env python3 -u\n'), ['python3', '-u', 'looked up']);
  assert.deepEqual(read(`#!/usr/bin/env -S perl -e 'print "a b"'\n`), ['perl', '-e', 'print "a b"', 'looked up']);
  assert.deepEqual(read('#!python3\n'), ['python3', 'looked up']);
  assert.deepEqual(read('#!/usr/bin/env /opt/tool\n'), ['/opt/tool']);
});

test('variables and other options of env are left to env', () => {
  assert.deepEqual(read('#!/usr/bin/env -S A=1 python3\n'), ['/usr/bin/env', 'A=1', 'python3']);
  assert.deepEqual(read('#!/usr/bin/env -S -i bash\n'), ['/usr/bin/env', '-i', 'bash']);
});

test('the line ends of Windows and a byte order mark are no part of the line', () => {
  assert.deepEqual(read('#!/usr/bin/env python3\r\nprint(1)\r\n'), ['python3', 'looked up']);
  assert.deepEqual(read('#!/bin/bash -e \r\n'), ['/bin/bash', '-e']);
  assert.deepEqual(read('\uFEFF#!/bin/bash\n'), ['/bin/bash']);
});

test('a line that names no program is none', () => {
  for (const text of [
    '',
    'echo',
    ' #!/bin/sh',
    '#!',
    '#!\n/bin/sh',
    '#!/usr/bin/env\n',
    '#![allow(unused)]\n',
    '# !/bin/sh',
  ])
    assert.equal(read(text), undefined, text);
});

test('a long line costs no more than its length', () => {
  const startedAt = performance.now();
  read(`#!${' '.repeat(FIRST_LINE_BYTES)}`);
  read(`#!/usr/bin/env -S ${"'".repeat(FIRST_LINE_BYTES)}`);
  read(`#!/a${' '.repeat(FIRST_LINE_BYTES - 10)}b\n`);
  assert.ok(performance.now() - startedAt < 1_000);
});
