import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  printable,
  printableJson,
  printableLine,
  printableOutput,
  printableText,
} from '../../../../src/core/text/printable.ts';

test('escape sequences, control characters and bidirectional overrides are dropped', () => {
  const cases: [string, string][] = [
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]8;;https://evil\u0007link\u001b]8;;\u0007', 'link'],
    ['\u001b]52;c;ZXZpbA==\u001b\\after', 'after'],
    ['\u001bP1$qtext\u001b\\after', 'after'],
    ['\u009b2Jcleared', 'cleared'],
    ['a\u0000b\u0008c\u007f', 'abc'],
    ['user\u202etxt.exe', 'usertxt.exe'],
    ['line\r\nnext', 'line\nnext'],
  ];
  for (const [hostile, safe] of cases) assert.equal(printableText(hostile), safe);
});

test('ordinary text in any script is untouched', () => {
  const text = 'tab\tnew\nline äöü 日本語 🚀 [31m';
  assert.equal(printableText(text), text);
});

test('an unfinished sequence hides neither what came before it nor what follows', () => {
  assert.equal(printableText('done\u001b'), 'done');
  assert.equal(printableText('done\u001b]0; 3 credits charged'), 'done0; 3 credits charged');
});

test('a line has no line ends, no characters by which two names look the same, and an end', () => {
  const cases: [string, string][] = [
    ['one\ntwo\r\nthree\u2028four\u2029five\u0085six', 'one two three four fivesix'],
    ['pay\u200bpal\u00ad\u2060\ufeff\u3164', 'paypal'],
    ['a\u200db', 'ab'],
    ['👩\u200d💻', '👩\u200d💻'],
    ['\u061cleft\u2067right\u2069', 'leftright'],
    ['x'.repeat(3_000_000), `${'x'.repeat(4_999)}…`],
    ['half \ud83d', 'half \ufffd'],
  ];
  for (const [hostile, safe] of cases) assert.equal(printableLine(hostile), safe);
});

test('a template keeps what is ours and makes one line of each value', () => {
  assert.equal(printable`\u001b[2m${'a\u001b[2Jb\nc'}\u001b[0m\n`, '\u001b[2mab c\u001b[0m\n');
});

test('output of a program keeps colours and carriage returns, and nothing else that a terminal obeys', () => {
  const output = '\u001b[31mred\u001b[0m\r50 %\u001b[2J\u001b]52;c;eA==\u0007\u001b[5n\n';
  assert.equal(printableOutput(output), '\u001b[31mred\u001b[0m\r50 %\n');
});

test('JSON is read as it was written, and holds nothing that a terminal obeys', () => {
  const value = { id: '\u009b2J\u202e\u001b\u2028\u{e0041}\u007f', name: '日本語 👩\u200d💻' };
  const json = printableJson(value);
  assert.deepEqual(JSON.parse(json), value);
  assert.doesNotMatch(json, /[\u0000-\u001f\u007f-\u009f\u2028\u202e]/);
});

test('a megabyte of beginnings of sequences takes no time', () => {
  for (const begin of ['\u001b]', '\u001b[', '\u009d', '\u001bP', '\u0090', '\u200d', '\u001b[0']) {
    assert.ok(printableText(begin.repeat(500_000)).length <= 1_000_000);
  }
});
