import assert from 'node:assert/strict';
import { test } from 'node:test';
import { volumeName, volumeVariable } from '../../../../src/remote/protocol/volume.ts';

test('the name of a volume is a word of at most 64 characters that begins with a letter or digit', () => {
  for (const name of ['a', '9', 'data-set_1.0', 'A'.repeat(64)]) assert.equal(volumeName.parse(name), name);
  for (const name of ['', '.', '-a', '_a', '../a', 'a/b', 'a b', 'é', 'a\n', 'A'.repeat(65)]) {
    assert.equal(volumeName.safeParse(name).success, false, JSON.stringify(name));
  }
});

test('a job finds a volume by a variable with its name', () => {
  assert.equal(volumeVariable('data-set_1.0'), 'FARWHARF_VOLUME_DATA_SET_1_0');
});
