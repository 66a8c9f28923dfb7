import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArray, parseCount, parseGpus, parseMemory, parseTime } from '../../../../src/jobs/batch/options.ts';

test('a time limit is minutes, or has its parts in order', () => {
  for (const [text, seconds] of [
    [' 90 ', 5_400],
    ['0:30', 30],
    ['2:00', 120],
    ['1:02:03', 3_723],
    ['0-0:0:1', 1],
    ['2-0', 172_800],
    ['2-3', 183_600],
    ['2-3:04', 183_840],
    ['2-3:04:05', 183_845],
    ['999999999', 59_999_999_940],
  ] as const) {
    assert.equal(parseTime(text), seconds, text);
  }
  for (const text of [
    '',
    '0',
    '0:0',
    '0-0',
    '1-',
    '1:2:3:4',
    '1-2:3:4:5',
    '1.5',
    '1h',
    'x1',
    '1x',
    '9999999999',
    '1 2',
    '-1',
    ':5',
  ]) {
    assert.equal(parseTime(text), undefined, text);
  }
});

test('a count is a number above 0, and of a range its first', () => {
  for (const [text, count] of [
    ['1', 1],
    [' 16 ', 16],
    ['2-4', 2],
    ['9999999', 9_999_999],
  ] as const) {
    assert.equal(parseCount(text), count, text);
  }
  for (const text of ['', '0', '0-4', '-1', '1.5', '10000000', '2-', '1x', 'x1', '1-2-3']) {
    assert.equal(parseCount(text), undefined, text);
  }
});

test('an amount of memory is in MiB unless it has a unit', () => {
  for (const [text, gibibytes] of [
    ['1024', 1],
    ['512M', 0.5],
    ['512m', 0.5],
    ['4G', 4],
    ['4GB', 4],
    ['4gb', 4],
    ['1.5T', 1536],
    ['1048576K', 1],
    ['2048B', 2],
    [' 1G ', 1],
  ] as const) {
    assert.equal(parseMemory(text), gibibytes, text);
  }
  for (const text of ['', '0', '0G', 'G', '1X', '1 G', '-1', '1.G', '1GG', 'x1G', '1GBs', '1'.repeat(13)]) {
    assert.equal(parseMemory(text), undefined, text);
  }
});

test('GPUs are a number, a type or both, and lists of them add up', () => {
  for (const [text, isGeneric, expected] of [
    ['2', false, { count: 2, type: undefined }],
    ['a100', false, { count: 1, type: 'a100' }],
    ['a100:2', false, { count: 2, type: 'a100' }],
    ['a100=2', false, { count: 2, type: 'a100' }],
    ['a100:2, h100:3', false, { count: 5, type: 'a100' }],
    ['1,h100:3', false, { count: 4, type: 'h100' }],
    ['gpu', true, { count: 1, type: undefined }],
    ['gpu:4', true, { count: 4, type: undefined }],
    ['gpu:a100:4(S:0-1)', true, { count: 4, type: 'a100' }],
    ['gres/gpu:2,gpu:a100', true, { count: 3, type: 'a100' }],
    ['tesla_v100-32.gb:1', false, { count: 1, type: 'tesla_v100-32.gb' }],
    ['9999', false, { count: 9_999, type: undefined }],
    ['12345', false, { count: 1, type: '12345' }],
  ] as const) {
    assert.deepEqual(parseGpus(text, isGeneric), expected, text);
  }
  for (const [text, isGeneric] of [
    ['0', false],
    ['', false],
    ['a:b:2', false],
    ['a b:2', false],
    [`${'x'.repeat(65)}:1`, false],
    ['2', true],
    ['lustre:2', true],
    ['gpu:0', true],
    ['gpu:1,lustre:1', true],
    ['gpu:a:b:1', true],
  ] as const) {
    assert.equal(parseGpus(text, isGeneric), undefined, text);
  }
  assert.deepEqual(parseGpus('x'.repeat(64), false), { count: 1, type: 'x'.repeat(64) });
});

test('an array is a list of tasks, ranges and steps, each task once', () => {
  for (const [text, tasks, concurrency] of [
    ['5', [5], undefined],
    ['0-3', [0, 1, 2, 3], undefined],
    ['3-3', [3], undefined],
    ['0-15:4', [0, 4, 8, 12], undefined],
    ['1,3,5-7%2', [1, 3, 5, 6, 7], 2],
    ['1-3,2-4', [1, 2, 3, 4], undefined],
    [' 7%1 ', [7], 1],
    ['7%0', [7], undefined],
  ] as const) {
    assert.deepEqual(parseArray(text), { tasks, concurrency }, text);
  }
  assert.equal(parseArray('0-99999')?.tasks.length, 100_000);
  for (const text of [
    '',
    '0-100000',
    '5-4',
    '1-5:0',
    '1-',
    '-1',
    '1,,2',
    'a',
    '1%',
    '1%x',
    '1:2',
    '1-2-3',
    `${'1,'.repeat(5_000)}1`,
  ]) {
    assert.equal(parseArray(text), undefined, text.slice(0, 20));
  }
});
