import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  exactData,
  joinPrintable,
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

test('a line of 5,000 characters is shown whole, a longer one with an ellipsis as the last of 5,000', () => {
  const line = 'x'.repeat(5_000);
  assert.equal(printableLine(line), line);
  assert.equal(printableLine(`${line}y`), `${'x'.repeat(4_999)}…`);
  assert.equal(
    printableLine(`${'x'.repeat(4_999)}\u200by`),
    `${'x'.repeat(4_999)}y`,
    'measured without what is dropped',
  );
  // The cut would leave half a character.
  assert.equal(printableLine(`${'x'.repeat(4_998)}🚀y`), `${'x'.repeat(4_998)}\ufffd…`);
});

test('a sequence without its end is dropped up to where text may begin', () => {
  const cases: [string, string][] = [
    ['\u001b[12', ''],
    ['\u001b[1;2mred', 'red'],
    ['\u001b(Btext', 'text'],
    ['\u001b7saved\u001b8', 'saved'],
    ['\u009d0;title\u0007text', 'text'],
    ['\u001b]0;title\u009ctext', 'text'],
    ['\u001b]0;two\nlines\u0007', '0;two\nlines'],
    ['\u001b_command\u001b\\text', 'text'],
    ['\u0090command\u009ctext', 'text'],
    ['\u001b^hidden\u0007', 'hidden'],
  ];
  for (const [hostile, safe] of cases) assert.equal(printableText(hostile), safe, JSON.stringify(hostile));
});

test('joiners stay only between characters that need them, and separators of lines are line feeds', () => {
  assert.equal(printableText('نمی\u200cخواهم'), 'نمی\u200cخواهم');
  for (const joiner of ['\u200c', '\u200d']) {
    for (const text of [`a${joiner}`, `${joiner}é`, `é${joiner}`, `é${joiner}b`]) {
      assert.equal(printableText(text), text.replace(joiner, ''), JSON.stringify(text));
    }
  }
  assert.equal(printableText('one\u2028two\u2029three'), 'one\ntwo\nthree');
});

test('data for a program is unchanged, and parts are joined with what is ours', () => {
  assert.equal(exactData('\u001b[2J\u202e'), '\u001b[2J\u202e');
  assert.equal(joinPrintable([printable`a`, printable`b`, printable`c`]), 'abc');
  assert.equal(joinPrintable([printable`a`, printable`b`, printable`c`], ', '), 'a, b, c');
  assert.equal(printable`${7} of ${'nine\u0000'}`, '7 of nine');
});

test('JSON escapes what it must, and nothing else', () => {
  assert.equal(
    printableJson({ a: '\u009b\u{e0041}\u2029', b: 'é🚀', c: [1, null] }),
    '{"a":"\\u009b\\udb40\\udc41\\u2029","b":"é🚀","c":[1,null]}',
  );
});
