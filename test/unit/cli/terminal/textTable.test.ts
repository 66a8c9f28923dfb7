import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Column, formatTable } from '../../../../src/cli/terminal/textTable.ts';
import { textWidth } from '../../../../src/core/text/textWidth.ts';

const COLUMNS: readonly Column[] = [
  { title: 'STATE' },
  { title: 'SCRIPT', minWidth: 6 },
  { title: 'MACHINE', dropOrder: 1 },
  { title: 'CR', align: 'right', dropOrder: 2 },
  { title: 'ID' },
];
const ROWS = [
  ['running', 'experiments/train.py --epochs 3', 'gpu', '0.5', 'a1b2c3d4e5'],
  ['ok', '東京大学の実験.py', 'cpu', '12', 'f6a7b8c9d0'],
];

test('columns line up, numbers to the right, and empty ones are left out', () => {
  const rows = ROWS.map(([state = '', , , credits = '', id = '']) => [state, '', '', credits, id]);
  assert.deepEqual(formatTable(COLUMNS, rows, undefined), [
    'STATE     CR  ID',
    'running  0.5  a1b2c3d4e5',
    'ok        12  f6a7b8c9d0',
  ]);
});

test('wide characters line up too, and a cell never begins a new line', () => {
  const rows = [
    ['ok', '東京', '', '', 'a'],
    ['ok', 'a\tb\nc', '', '', 'b'],
  ];
  assert.deepEqual(formatTable(COLUMNS, rows, 80), ['STATE  SCRIPT  ID', 'ok     東京    a', 'ok     a b c   b']);
});

test('in a narrow terminal texts are shortened first, then the least important columns are left out', () => {
  assert.deepEqual(formatTable(COLUMNS, ROWS, 50), [
    'STATE    SCRIPT           MACHINE   CR  ID',
    'running  experiments/tr…  gpu      0.5  a1b2c3d4e5',
    'ok       東京大学の実験…  cpu       12  f6a7b8c9d0',
  ]);
  assert.deepEqual(formatTable(COLUMNS, ROWS, 40), [
    'STATE    SCRIPT           CR  ID',
    'running  experiments/t…  0.5  a1b2c3d4e5',
    'ok       東京大学の実…    12  f6a7b8c9d0',
  ]);
  assert.deepEqual(formatTable(COLUMNS, ROWS, 27), [
    'STATE    SCRIPT  ID',
    'running  exper…  a1b2c3d4e5',
    'ok       東京…   f6a7b8c9d0',
  ]);
});

test('a table fits wherever its ids do, and ids are whole even where it does not', () => {
  for (let width = 1; width <= 90; width += 1) {
    const lines = formatTable(COLUMNS, ROWS, width);
    const widest = Math.max(...lines.map(textWidth));
    assert.ok(widest <= Math.max(width, 27), `${widest} in ${width}`);
    assert.match(lines.at(-1) ?? '', /f6a7b8c9d0$/);
  }
});

test('a table may have as many rows as a job can have results', () => {
  const rows = Array.from({ length: 300_000 }, () => ['ok', 'a', '', '', 'b']);
  assert.equal(formatTable(COLUMNS, rows, undefined).length, 300_001);
});
