import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fitName,
  foldName,
  judgeName,
  LINUX_NAMES,
  MACOS_NAMES,
  type NameRules,
  NameTable,
  validName,
  WINDOWS_NAMES,
} from '../../../../src/workspace/files/nameRules.ts';

test('names that some file system takes for the same have one key', () => {
  const same: readonly (readonly string[])[] = [
    ['File.TXT', 'file.txt'],
    ['é/x', 'e\u0301/X'],
    ['\ufb01le', 'file'],
    ['straße', 'STRASSE'],
    ['a\u200db\u00ad', 'ab'],
    ['a.', 'a', 'a...', 'a ', 'a. .'],
    ['a./b /c', 'a/b/c'],
  ];
  for (const names of same) assert.equal(new Set(names.map(foldName)).size, 1, names.join());
});

test('names that differ elsewhere have different keys', () => {
  const keys = ['a', 'b', 'a/b', 'ab', '.a', '..a', 'a.b', 'a b', 'é', 'e', '.', 'a/.b'].map(foldName);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(foldName('.a/ b'), '.a/ b', 'a dot or space at the beginning counts');
});

test('a name is judged by whether it would arrive', () => {
  for (const name of ['ordinary näme.txt', 'a\u00a0b', 'a\\b', 'T:300K.csv', 'aux.txt', 'trail.'])
    assert.equal(judgeName(name), undefined, name);
  assert.equal(judgeName('bad-\ufffd'), 'its name is not valid UTF-8');
  assert.equal(judgeName('x'.repeat(256)), 'its name is longer than 255 bytes');
  for (const control of ['\u0000', '\u001f', '\u007f', '\u009f']) {
    assert.equal(judgeName(`a${control}b`), 'its name contains control characters');
  }
});

test('a name that a system does not take becomes one that it takes', () => {
  for (const [name, linux, windows] of [
    ['T:300K.csv', 'T:300K.csv', 'T_300K.csv'],
    ['2024-01-01 12:00:00.csv', '2024-01-01 12:00:00.csv', '2024-01-01 12_00_00.csv'],
    ['aux.txt', 'aux.txt', 'aux_.txt'],
    ['con', 'con', 'con_'],
    ['COM1 .x.y', 'COM1 .x.y', 'COM1_ .x.y'],
    ['lpt¹.x', 'lpt¹.x', 'lpt¹_.x'],
    ['what?.txt', 'what?.txt', 'what_.txt'],
    ['trail.', 'trail.', 'trail_'],
    ['. .', '. .', '___'],
    ['a\\b', 'a\\b', 'a_b'],
    ['a<b>"|*', 'a<b>"|*', 'a_b____'],
    ['a\nb\0c', 'a_b_c', 'a_b_c'],
    ['a\udcffb', 'a%FFb', 'a%FFb'],
    ['console', 'console', 'console'],
    ['.a', '.a', '.a'],
  ] as const) {
    assert.equal(validName(name, LINUX_NAMES), linux);
    assert.equal(validName(name, MACOS_NAMES), linux);
    assert.equal(validName(name, WINDOWS_NAMES), windows);
    for (const rules of [LINUX_NAMES, WINDOWS_NAMES]) {
      const valid = validName(name, rules);
      assert.equal(validName(valid, rules), valid, 'what it becomes is valid');
    }
  }
});

test('a name that is too long keeps its beginning and its extension', () => {
  assert.equal(validName('x'.repeat(255), LINUX_NAMES), 'x'.repeat(255));
  assert.equal(validName(`${'x'.repeat(300)}.csv`, LINUX_NAMES), `${'x'.repeat(251)}.csv`);
  assert.equal(Buffer.byteLength(validName(`${'ü'.repeat(200)}.csv`, LINUX_NAMES)), 254);
  assert.equal(validName(`${'ü'.repeat(200)}.csv`, WINDOWS_NAMES), `${'ü'.repeat(200)}.csv`);
  assert.equal(validName('😀'.repeat(200), WINDOWS_NAMES).length, 254);
  assert.equal(fitName(`${'x'.repeat(250)}.csv`, ' (job 7)', LINUX_NAMES), `${'x'.repeat(243)} (job 7).csv`);
});

const pathsIn = (rules: NameRules, names: readonly string[]): unknown[] => {
  const table = new NameTable(rules);
  return names.map((name) => {
    const place = name.endsWith('/') ? table.addFolder(name.slice(0, -1)) : table.addFile(name);
    if ('earlier' in place) return { earlier: place.earlier };
    return place.twin === undefined ? place.path : [place.path, place.twin];
  });
};

test('names that the file system holds apart stay as they are, and others get a number', () => {
  const names = ['Data/a.txt', 'data/a.txt', 'Data/A.TXT', '\u00e9', 'e\u0301', 'data/deep/x', 'Data/deep/x'];
  assert.deepEqual(pathsIn(LINUX_NAMES, names), names);
  assert.deepEqual(pathsIn(MACOS_NAMES, names), [
    'Data/a.txt',
    ['Data/a 2.txt', 'Data/a.txt'],
    ['Data/A 3.TXT', 'Data/a.txt'],
    '\u00e9',
    ['e\u0301 2', '\u00e9'],
    'Data/deep/x',
    ['Data/deep/x 2', 'Data/deep/x'],
  ]);
  assert.deepEqual(pathsIn(MACOS_NAMES, ['out', 'OUT/x', 'OUT/y']), ['out', 'OUT 2/x', 'OUT 2/y']);
});

test('names that become the same stay apart, in folders too', () => {
  assert.deepEqual(pathsIn(WINDOWS_NAMES, ['a:b', 'a?b', 'a_b', 'a_b 2', 'x:1/f', 'x?1/f', 'x:1/g', 'a:b/']), [
    'a_b',
    'a_b 2',
    'a_b 3',
    'a_b 2 2',
    'x_1/f',
    'x_1 2/f',
    'x_1/g',
    { earlier: 'a:b' },
  ]);
});

test('what is really in an archive twice is found, whatever its name becomes', () => {
  for (const rules of [LINUX_NAMES, MACOS_NAMES, WINDOWS_NAMES]) {
    assert.deepEqual(pathsIn(rules, ['a', 'a', 'a/b', 'c/d', 'c', 'c/', 'c/d/']).slice(1), [
      { earlier: 'a' },
      { earlier: 'a' },
      'c/d',
      { earlier: 'c' },
      'c',
      { earlier: 'c/d' },
    ]);
    assert.deepEqual(pathsIn(rules, ['a\u0001', 'a\u0002', 'a\u0002'])[2], { earlier: 'a\u0001' });
  }
});

test('a million names that become the same take no longer than others', () => {
  const table = new NameTable(LINUX_NAMES);
  const started = performance.now();
  for (let index = 0; index < 200_000; index += 1) {
    const name = index.toString(2).padStart(18, '0').replaceAll('0', '\u0001').replaceAll('1', '\u0002');
    assert.ok('path' in table.addFile(name));
  }
  // Comparing each with each would take hours.
  assert.ok(performance.now() - started < 120_000);
});
