import assert from 'node:assert/strict';
import { posix, win32 } from 'node:path';
import { test } from 'node:test';
import { pathInside } from '../../../../src/core/files/pathInside.ts';

test('names that begin with two dots or have a colon lie inside their folder', () => {
  for (const name of ['..cache/x.py', '..x', '...', 'a/..b/c', 'run:1.py', 'c:x.py', 'a\\b', 'x']) {
    assert.equal(pathInside('/home/ada/project', `/home/ada/project/${name}`, posix), name);
  }
  assert.equal(pathInside('C:\\work', 'C:\\work\\..cache\\x.py', win32), '..cache/x.py');
  assert.equal(pathInside('C:\\work', 'c:\\WORK\\a\\x.py', win32), 'a/x.py');
  assert.equal(pathInside('/home/ada/project', '/home/ada/project', posix), '');
  assert.equal(pathInside('/', '/x', posix), 'x');
});

test('paths outside a folder, on another drive or in an alternate data stream are not inside it', () => {
  const folder = '/home/ada/project';
  for (const file of ['/', `${folder}/..`, `${folder}/../x`, `${folder}s/x`, '/other', `${folder}/a/../../x`]) {
    assert.equal(pathInside(folder, file, posix), undefined, file);
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
