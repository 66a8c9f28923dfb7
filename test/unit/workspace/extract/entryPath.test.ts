import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entryPath } from '../../../../src/workspace/extract/entryPath.ts';

function refusalOf(name: string, platform: NodeJS.Platform = 'linux', depth = 100): string | undefined {
  try {
    entryPath(name, depth, platform);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^The archive was refused: (.*?)\.(?: Nothing was unpacked\.)?$/, '$1');
  }
}

test('a name becomes a relative path', () => {
  for (const [name, path] of [
    ['a', 'a'],
    ['./a//b/.', 'a/b'],
    ['a/', 'a'],
    ['./', ''],
    ['..a/b..', '..a/b..'],
    ['ab:c', 'ab:c'],
    ['1:b', '1:b'],
  ] as const) {
    assert.equal(entryPath(name, 100, 'linux'), path, name);
  }
});

test('a name that leads out of the folder, or that a system reads otherwise, is refused with the reason', () => {
  for (const [name, reason] of [
    ['', 'an entry has no name'],
    ['/a', '"/a" is an absolute path'],
    ['C:a', '"C:a" starts with a drive letter'],
    ['a:b', '"a:b" starts with a drive letter'],
    ['z:/a', '"z:/a" starts with a drive letter'],
    ['..', '".." leads out of the folder'],
    ['a/../b', '"a/../b" leads out of the folder'],
    ['a\\b', '"a\\\\b": its name contains a backslash, which separates folders on Windows'],
    ['a\nb', '"a\\nb": its name contains control characters'],
  ] as const) {
    assert.equal(refusalOf(name), reason);
  }
});

test('a path has as many names as allowed, and each has 255 bytes', () => {
  assert.equal(refusalOf('a/b/c', 'linux', 3), undefined);
  assert.equal(refusalOf('a/b/c', 'linux', 2), 'its folders are nested more than 2 levels deep');
  assert.equal(refusalOf('x'.repeat(255)), undefined);
  assert.equal(refusalOf('x'.repeat(256)), 'a name in it is longer than 255 bytes');
  assert.equal(refusalOf(`a/${'é'.repeat(128)}`), 'a name in it is longer than 255 bytes');
  assert.throws(() => entryPath('a/b', 1), { code: 'limit' });
  assert.throws(() => entryPath('x'.repeat(256), 9), { code: 'limit' });
});

test('on Windows, names of devices and characters that it does not have are refused', () => {
  const names = [
    'con',
    'CON.txt',
    'a/nul',
    'com1',
    'lpt¹.x',
    'aux.',
    'a<',
    'a>b',
    'ab:c',
    'a"',
    'a|b',
    'a?',
    'a*',
    'a.',
    'a ',
    'x /y',
    'prn',
  ];
  for (const name of names) {
    assert.equal(refusalOf(name, 'win32'), `${JSON.stringify(name)} is not a valid name on Windows`);
    assert.equal(refusalOf(name, 'linux'), undefined);
  }
  for (const name of ['console', 'xcon', 'com', 'com10', 'a.b', '.a', ' a', 'lpt', 'auxiliary']) {
    assert.equal(refusalOf(name, 'win32'), undefined, name);
  }
});
