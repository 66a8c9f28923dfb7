import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as l10n from '@vscode/l10n';
import {
  decimalMark,
  formatBytes,
  formatCount,
  formatCredits,
  formatDollars,
  formatDuration,
  formatInteger,
  formatMeasured,
  formatMicros,
  formatNumber,
  formatShort,
  plural,
} from '../../../../src/core/text/format.ts';

test('bytes are shown in decimal units with one decimal below a hundred', () => {
  const shown = [0, 512, 999, 1000, 3_200_000, 99_940, 99_960, 999_499, 999_500, 2_147_483_648].map(formatBytes);
  assert.deepEqual(shown, [
    '0 B',
    '512 B',
    '999 B',
    '1.0 KB',
    '3.2 MB',
    '99.9 KB',
    '100 KB',
    '999 KB',
    '1.0 MB',
    '2.1 GB',
  ]);
});

test('durations use the two largest units', () => {
  const shown = [0.2, 9.94, 42, 59.49, 59.5, 240, 3_600, 4_200, 86_400, 183_600].map(formatDuration);
  assert.deepEqual(shown, ['0.2 s', '9.9 s', '42 s', '59 s', '1 min', '4 min', '1 h', '1 h 10 min', '1 d', '2 d 3 h']);
});

test('what a step took is shown in milliseconds below a second', () => {
  const shown = [0, 400, 12_400, 994_000, 995_000, 3_400_000, 120_000_000].map(formatMicros);
  assert.deepEqual(shown, ['<1 ms', '<1 ms', '12 ms', '994 ms', '1.0 s', '3.4 s', '2 min']);
});

test('credits are as precise as a person needs', () => {
  assert.deepEqual([312, 311.44, 1.2, 0.052, 0.00217, 6, 0].map(formatCredits), [
    '312',
    '311.4',
    '1.2',
    '0.05',
    '0.0022',
    '6',
    '0',
  ]);
});

test('credits from a thousand on have separators', () => {
  assert.deepEqual([1_000, 12_345.67, -1_234_567, -0].map(formatCredits), ['1,000', '12,345.7', '-1,234,567', '0']);
});

test('numbers are written as the language of the texts does', () => {
  l10n.config({ contents: { 'en-US': 'de-DE' } });
  try {
    assert.deepEqual([12_345.67, 0.5, 0.0022].map(formatCredits), ['12.345,7', '0,5', '0,0022']);
    assert.deepEqual(
      [formatBytes(3_200_000), formatDuration(0.2), formatInteger(20_000)],
      ['3,2 MB', '0,2 s', '20.000'],
    );
    assert.deepEqual([2.1, 0.015, 1_024].map(formatNumber), ['2,1', '0,015', '1.024']);
    assert.deepEqual([0.12345, 1e-7, 1_234, Number.NaN].map(formatMeasured), ['0,1235', '1e-7', '1234', 'NaN']);
    assert.deepEqual([850, 8_123, 120_000].map(formatShort), ['850', '8,1k', '120k']);
    assert.deepEqual([12.3, 0.0042].map(formatDollars), ['$12,30', '$0,0042']);
    assert.equal(decimalMark(), ',');
  } finally {
    l10n.config({ contents: {} });
  }
  assert.equal(decimalMark(), '.');
});

test('counts agree with their noun', () => {
  assert.equal(formatCount(1, 'file'), '1 file');
  assert.equal(formatCount(20_000, 'file'), '20,000 files');
  assert.equal(formatCount(2, 'entry', 'entries'), '2 entries');
});

test('dollars have two significant digits, and cents from a dollar on', () => {
  assert.deepEqual([0, 0.00421, 0.5, 12.345, 123].map(formatDollars), ['$0', '$0.0042', '$0.5', '$12.35', '$123.00']);
});

test('what is larger than the largest unit of bytes stays in it', () => {
  assert.deepEqual([999.5, 999_400_000_000, 999_500_000_000, 2_500_000_000_000, 5e15].map(formatBytes), [
    '1.0 KB',
    '999 GB',
    '1.0 TB',
    '2.5 TB',
    '5,000 TB',
  ]);
});

test('a duration changes its units where the smaller one would be rounded up to the larger', () => {
  const shown = [9.949, 9.95, 59.5, 3_569, 3_570, 3_660, 86_340, 86_369, 86_370, 90_000, 172_800].map(formatDuration);
  assert.deepEqual(shown, [
    '9.9 s',
    '10 s',
    '1 min',
    '59 min',
    '1 h',
    '1 h 1 min',
    '23 h 59 min',
    '23 h 59 min',
    '1 d',
    '1 d 1 h',
    '2 d',
  ]);
  assert.deepEqual([999, 1_000, 994_999].map(formatMicros), ['<1 ms', '1 ms', '995 ms']);
});

test('an amount has more digits the smaller it is, on both sides of each limit', () => {
  assert.deepEqual([100, 99.994, 100.26, 0.01, 0.0149, 0.00999, -0.00217, -150.26].map(formatCredits), [
    '100',
    '99.99',
    '100.3',
    '0.01',
    '0.01',
    '0.01',
    '-0.0022',
    '-150.3',
  ]);
  assert.deepEqual([0.994, 0.996, 1, 0.0996].map(formatDollars), ['$0.99', '$1.00', '$1.00', '$0.1']);
});

test('a count chooses its sentence, and stands in it as the language writes it', () => {
  const filesOf = (count: number): string => plural(count, '1 file', '{0} files');
  assert.deepEqual([0, 1, 2, 20_000].map(filesOf), ['0 files', '1 file', '2 files', '20,000 files']);
  assert.equal(formatInteger(1_234_567), '1,234,567');
  assert.equal(formatCount(0, 'file'), '0 files');
});

test('a number of 300 digits, which a service or a job can send, is short', () => {
  const vast = [1e15, 1.5e300, -1.5e300, Number.MAX_VALUE];
  const formats = [
    formatBytes,
    formatCredits,
    formatDollars,
    formatDuration,
    formatInteger,
    formatMicros,
    formatNumber,
    formatShort,
  ];
  const texts = vast.flatMap((value) => [
    ...formats.map((format) => format(value)),
    formatCount(value, 'file'),
    plural(value, '1 file', '{0} files'),
  ]);
  for (const text of texts) assert.ok(text.length <= 20, text);
  assert.equal(formatCredits(1.5e300), '1.5e+300');
  assert.equal(formatInteger(999_999_999_999_999), '999,999,999,999,999');
});
