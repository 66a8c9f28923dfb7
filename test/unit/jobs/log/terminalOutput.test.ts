import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TerminalText } from '../../../../src/jobs/log/terminalOutput.ts';

const RESET = '\u001b[0m';

/** What a terminal, or a view that can only append, is given for these pieces of output and at the end of the line. */
function shown(isTerminal: boolean, ...pieces: readonly string[]): readonly [text: string, end: string] {
  const text = new TerminalText(isTerminal);
  return [pieces.map((piece) => text.push(piece)).join(''), text.endLine()];
}

test('a terminal that was left in a colour gets it back without, one that was not gets nothing', () => {
  assert.deepEqual(shown(true, '\u001b[31mred'), ['\u001b[31mred', `${RESET}\n`]);
  assert.deepEqual(shown(true, '\u001b[31mred\n'), ['\u001b[31mred\n', RESET]);
  for (const reset of ['\u001b[m', '\u001b[0m', '\u001b[00m']) {
    assert.deepEqual(shown(true, `\u001b[31mred${reset}\n`), [`\u001b[31mred${reset}\n`, '']);
  }
  assert.deepEqual(shown(true, 'plain\n'), ['plain\n', '']);
  assert.deepEqual(shown(true, '\u001b[31mred\n', 'plain\n'), ['\u001b[31mred\nplain\n', RESET], 'a colour stays');
});

test('a sequence in two pieces is one, and half of one at the end is dropped', () => {
  assert.deepEqual(shown(true, 'a\u001b[3', '1mb\n'), ['a\u001b[31mb\n', RESET]);
  assert.deepEqual(shown(true, 'a\n\u001b[3'), ['a\n', '']);
  assert.deepEqual(shown(false, 'a\u001b[3', '1mb\n'), ['ab\n', '']);
});

test('a line end in two pieces is one', () => {
  assert.deepEqual(shown(false, 'a\r', '\nb\r\n'), ['a\nb\n', '']);
});

test('where text can only be appended, a line that is rewritten appears once, with its last text', () => {
  assert.deepEqual(shown(false, '10 %\r20 %', '\r30 %', '\ndone\n'), ['10 %\n30 %\ndone\n', '']);
  assert.deepEqual(shown(false, '10 %\r20 %'), ['10 %', '\n20 %\n']);
  for (const returns of ['\r', '\r\r', '\r\r\r']) {
    assert.deepEqual(shown(false, `\r20 %${returns}`), ['', '20 %\n'], 'a return without text leaves it visible');
  }
});

test('whether a line is complete counts what is held back', () => {
  const text = new TerminalText(false);
  const isStartAfter = (piece: string): boolean => {
    text.push(piece);
    return text.isLineStart;
  };
  assert.equal(text.isLineStart, true);
  assert.equal(isStartAfter('a'), false);
  assert.equal(isStartAfter('\n'), true);
  assert.equal(isStartAfter('\u001b['), false);
  assert.equal(isStartAfter('0m'), true);
  assert.equal(isStartAfter('\r5 %'), false);
  assert.equal(text.rewritten, '5 %');
});

test('a rewritten line that never ends is passed on, and a sequence that never ends is dropped', () => {
  const [long] = shown(false, `\r${'x'.repeat(70_000)}`);
  assert.equal(long.length, 70_000);
  const [kept] = shown(true, `a\u001b]${'x'.repeat(4_095)}`, 'b\n');
  assert.equal(kept, 'ab\n');
});
