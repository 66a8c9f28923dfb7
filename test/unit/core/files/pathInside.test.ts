import assert from 'node:assert/strict';
import { posix, win32 } from 'node:path';
import { test } from 'node:test';
import { pathInside } from '../../../../src/core/files/pathInside.ts';

test('names that begin with two dots or have a colon lie inside their folder', () => {
  for (const name of ['..cache/x.py', '..x', '...', 'a/..b/c', 'run:1.py', 'c:x.py', 'a\\b', 'x']) {
    assert.equal(pathInside('/work', `/work/${name}`, posix), name);
  }
  assert.equal(pathInside('C:\\work', 'C:\\work\\..cache\\x.py', win32), '..cache/x.py');
  assert.equal(pathInside('C:\\work', 'c:\\WORK\\a\\x.py', win32), 'a/x.py');
  assert.equal(pathInside('/work', '/work', posix), '');
  assert.equal(pathInside('/', '/x', posix), 'x');
});

test('paths outside a folder, on another drive or in an alternate data stream are not inside it', () => {
  for (const file of ['/', '/work/..', '/work/../x', '/workshop/x', '/other', '/work/a/../../x']) {
    assert.equal(pathInside('/work', file, posix), undefined, file);
  }
  for (const file of [
    'D:\\work\\x',
    'C:\\work\\..\\x',
    'C:\\workshop\\x',
    '\\\\server\\work\\x',
    'C:\\work\\x.py:stream',
  ]) {
    assert.equal(pathInside('C:\\work', file, win32), undefined, file);
  }
});
