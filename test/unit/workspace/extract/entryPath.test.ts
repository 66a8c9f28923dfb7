import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entryPath } from '../../../../src/workspace/extract/archivePlan.ts';

test('a name becomes a relative path', () => {
  for (const [name, path] of [
    ['a', 'a'],
    ['./a//b/.', 'a/b'],
    ['a/', 'a'],
    ['./', ''],
    ['..a/b..', '..a/b..'],
    ['C:a', 'C:a'],
    ['a\\b', 'a\\b'],
  ] as const) {
    assert.equal(entryPath(name), path, name);
  }
});

test('a name that leads out of the folder is refused with the reason', () => {
  for (const [name, reason] of [
    ['', 'an entry has no name'],
    ['/a', '"/a" is an absolute path'],
    ['..', '".." leads out of the folder'],
    ['a/../b', '"a/../b" leads out of the folder'],
  ] as const) {
    const message = `The archive was refused: ${reason}. Nothing was unpacked.`;
    assert.throws(() => entryPath(name), { code: 'refused', message });
  }
});
