import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ColouredLines } from '../../../../src/jobs/logView/colouredLines.ts';
import { ViewText } from '../../../../src/jobs/logView/viewText.ts';

const ESC = '\u001b';

function read(...texts: readonly string[]): ColouredLines {
  const lines = new ColouredLines();
  const reader = lines.reader();
  for (const text of texts) reader.push({ event: 'log', data: { text } });
  return lines;
}
const words = (lines: ColouredLines, line: string) =>
  lines.of(line).map(({ start, end, style }) => [line.slice(start, end), style.colour, style.isBold] as const);

test('the coloured parts of a line are found by the text that a log shows', () => {
  const text = `${ESC}[1mbold ${ESC}[31mred\u200b${ESC}[0m plain ${ESC}[92;4mgreen${ESC}[39m\n`;
  const lines = read(text);
  const shown = new ViewText({}).push({ seq: 1, at: '', event: 'log', data: { text } }).trimEnd();
  assert.equal(shown, 'bold red plain green');
  assert.deepEqual(words(lines, shown), [
    ['bold ', undefined, true],
    ['red', 1, true],
    ['green', 10, false],
  ]);
  assert.deepEqual(words(lines, 'another line'), []);
});

test('a colour lasts over lines, and sequences may be cut', () => {
  const lines = read(`${ESC}[3`, '3mone\ntw', `o\r\n${ESC}[mthree\n`);
  assert.deepEqual(words(lines, 'one'), [['one', 3, false]]);
  assert.deepEqual(words(lines, 'two'), [['two', 3, false]]);
  assert.deepEqual(words(lines, 'three'), []);
});

test('colours outside the sixteen of a terminal are left out, and what follows them is read', () => {
  const lines = read(`${ESC}[38;5;9ma${ESC}[38;5;200mb${ESC}[38;2;1;31;3;1mc${ESC}[38mx\n`);
  assert.deepEqual(words(lines, 'abcx'), [
    ['a', 9, false],
    ['c', undefined, true],
    ['x', undefined, true],
  ]);
});

test('a line that was printed again without colours has none', () => {
  assert.deepEqual(words(read(`${ESC}[31msame${ESC}[0m\n${ESC}[0msame\n`), 'same'), []);
});

test('as many lines as the log view shows are known, and fewer if each has hundreds of colours', () => {
  const usual = read(Array.from({ length: 20_001 }, (_, index) => `${ESC}[32m${index}\n`).join(''));
  assert.deepEqual([usual.of('1').length, usual.of('20000').length], [1, 1]);
  const hostile = (index: number): string => `${index} ${`${ESC}[32mx${ESC}[31my`.repeat(150)}\n`;
  const known = read(...Array.from({ length: 2_000 }, (_, index) => hostile(index)));
  const shown = (index: number): string => `${index} ${'xy'.repeat(150)}`;
  assert.equal(known.of(shown(0)).length, 0);
  assert.ok(known.of(shown(1_999)).length >= 300);
});
