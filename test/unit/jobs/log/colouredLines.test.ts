import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ColouredLines } from '../../../../src/jobs/log/colouredLines.ts';
import { ViewText } from '../../../../src/jobs/log/viewText.ts';

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

test('each of the sixteen colours has its number, and other codes change nothing', () => {
  const colourOf = (code: string): readonly (number | undefined)[] => {
    const lines = read(`${ESC}[0m${ESC}[1;${code}mx${ESC}[0m\n`);
    return lines.of('x').map(({ style }) => style.colour);
  };
  assert.deepEqual(
    ['30', '37', '90', '97', '38;5;0', '38:5:15'].map((code) => colourOf(code)[0]),
    [0, 7, 8, 15, 0, 15],
  );
  for (const code of ['29', '40', '89', '98', '38;5;16', '38;5', '38;2;1;2;3', '4', '']) {
    assert.equal(colourOf(code)[0], undefined, code);
  }
  assert.deepEqual(words(read(`${ESC}[38;2;1;2;3;31mx${ESC}[m\n`), 'x'), [['x', 1, false]]);
  assert.deepEqual(words(read(`${ESC}[31;1ma${ESC}[22mb${ESC}[39mc\n`), 'abc'), [
    ['a', 1, true],
    ['b', 1, false],
  ]);
});

test('a line of 2,000 characters has its colours, a longer one has none', () => {
  const line = (length: number): string => `${ESC}[31m${'x'.repeat(length - 5)}`;
  assert.equal(read(`${line(2_000)}\n`).of('x'.repeat(1_995)).length, 1);
  assert.equal(read(`${line(2_001)}\n`).of('x'.repeat(1_996)).length, 0);
  assert.equal(read(line(2_001), 'y\n', `${ESC}[32mz\n`).of('z').length, 1);
  assert.equal(read(`${ESC}[31ma\rb\n`).of('b').length, 1);
});
