import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldName, judgeName, NameTable } from '../../../../src/workspace/archive/entryNames.ts';

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

test('a name is judged by what a system would make of it', () => {
  assert.equal(judgeName('ordinary näme.txt'), undefined);
  assert.equal(judgeName('bad-\ufffd'), 'its name is not valid UTF-8');
  for (const control of ['\u0000', '\u001f', '\u007f', '\u009f']) {
    assert.equal(judgeName(`a${control}b`), 'its name contains control characters');
  }
  assert.equal(judgeName('a\u00a0b'), undefined);
  assert.equal(judgeName('a\\b'), 'its name contains a backslash, which separates folders on Windows');
});

test('a table knows each name, and the one that it would overwrite', () => {
  const table = new NameTable();
  assert.equal(table.claimFile('Data/a.txt'), undefined);
  assert.equal(table.claimFile('Data/deep/er/b.txt'), undefined);
  assert.equal(table.folderCount, 3);
  assert.equal(table.claimFile('Data/A.TXT'), 'Data/a.txt');
  assert.equal(table.claimFile('Data/a.txt'), 'Data/a.txt');
  assert.equal(table.claimFile('data/c.txt'), 'Data');
  assert.equal(table.claimFile('Data/deep'), 'Data/deep');
  assert.equal(table.claimFile('Data/a.txt/inside'), 'Data/a.txt');
  assert.equal(table.claimFolder('Data/deep'), undefined, 'a folder may come again');
  assert.equal(table.claimFolder('Data/Deep'), 'Data/deep');
  assert.equal(table.claimFolder('data/new'), 'Data');
  assert.equal(table.claimFolder('data'), 'Data');
  assert.equal(table.claimFolder('data/deep/er'), 'Data');
  assert.equal(table.claimFolder('Data/a.txt'), 'Data/a.txt');
  assert.equal(table.claimFolder(''), undefined);
  assert.equal(table.claimFolder('.'), undefined);
  assert.equal(table.folderCount, 3);
  assert.equal(table.claimFolder('new'), undefined);
  assert.equal(table.folderCount, 4);
});
