import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainText } from '../../../src/core/terminalText.ts';

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
  for (const [hostile, safe] of cases) assert.equal(plainText(hostile), safe);
});

test('ordinary text in any script is untouched', () => {
  const text = 'tab\tnew\nline äöü 日本語 🚀 [31m';
  assert.equal(plainText(text), text);
});

test('an unfinished sequence at the end does not hide what came before it', () => {
  assert.equal(plainText('done\u001b'), 'done');
  assert.equal(plainText('done\u001b]0;title'), 'done');
});
