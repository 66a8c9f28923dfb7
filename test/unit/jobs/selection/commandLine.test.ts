import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { readCommandLine, writeCommandLine } from '../../../../src/jobs/selection/commandLine.ts';

test('a typed command is split as a POSIX shell splits it', () => {
  for (const [line, words] of [
    ['make all', ['make', 'all']],
    ['  python -c \'print(1); x = "*"\' ', ['python', '-c', 'print(1); x = "*"']],
    ['a "b c"\\ d e\'f\'', ['a', 'b c d', 'ef']],
    ['a "say \\"hi\\" \\$HOME"', ['a', 'say "hi" $HOME']],
    ['a \'\' ""', ['a', '', '']],
    [
      'a lr=1e-3 layers[0] x?y {a} 50% ~ # $ "$"',
      ['a', 'lr=1e-3', 'layers[0]', 'x?y', '{a}', '50%', '~', '#', '$', '$'],
    ],
    ['a \\| \\> \\; \\& \\*', ['a', '|', '>', ';', '&', '*']],
    ["a 'b\nc'", ['a', 'b\nc']],
  ] as const) {
    assert.deepEqual(readCommandLine(line), { ok: true, words }, line);
  }
});

test('what only a shell does is refused, with the command that asks for one', () => {
  for (const [line, syntax] of [
    ['a | b', '|'],
    ['a|b', '|'],
    ['make && ./test', '&&'],
    ['a || b', '||'],
    ['a > out.txt', '>'],
    ['a 2>&1', '>'],
    ['a >> out.txt', '>>'],
    ['a < in.txt', '<'],
    ['a; b', ';'],
    ['a &', '&'],
    ['a $HOME', '$HOME'],
    ['a "$HOME/x"', '$HOME'],
    ['a ${X}', '${X}'],
    ['a $(b)', '$('],
    ['a "x $(b)"', '$('],
    ['a `b`', '`'],
    ['a "x `b`"', '`'],
    ['a *.csv', '*'],
    ['(a)', '('],
  ] as const) {
    const read = readCommandLine(line);
    assert.ok(!read.ok, line);
    assert.ok(read.reason.startsWith(`Commands run without a shell, which would read ${syntax}. `), read.reason);
    const remedy = read.reason.slice(read.reason.indexOf('run a shell: ') + 13);
    assert.deepEqual(readCommandLine(remedy), { ok: true, words: ['sh', '-c', line] });
  }
});

test('an open quote, nothing, and a variable before the program have remedies of their own', () => {
  for (const line of ["a 'b", 'a "b', 'a \\']) assert.match(reasonOf(line), /^A quote is not closed/);
  for (const line of ['', '  ']) assert.match(reasonOf(line), /^Enter a program/);
  assert.match(reasonOf('SEED=1 python a.py'), /Run env SEED=1 python a\.py$/);
  function reasonOf(line: string): string {
    const read = readCommandLine(line);
    return read.ok ? '' : read.reason;
  }
});

test('a command that is written is read as it was, by us and by sh', { skip: process.platform === 'win32' }, () => {
  const words = [
    "it's",
    'a b',
    '$HOME',
    '`id`',
    '*',
    '',
    '"',
    '\\',
    'a\nb',
    '|',
    '~',
    '#',
    '!',
    '{a,b}',
    'ü',
    '=x',
    '&',
  ];
  const line = writeCommandLine(['printf', '%s\\0', ...words]);
  assert.deepEqual(readCommandLine(line), { ok: true, words: ['printf', '%s\\0', ...words] });
  assert.equal(spawnSync('sh', ['-c', line]).stdout.toString(), words.map((word) => `${word}\0`).join(''));
});
