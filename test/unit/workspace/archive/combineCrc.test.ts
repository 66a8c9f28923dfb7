import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { combineCrc } from '../../../../src/workspace/archive/gzipMember.ts';
import { seeded } from '../../../random.ts';

test('the checksum of two texts follows from those of each and the length of the second', () => {
  const below = seeded(5);
  for (const [first, second] of [
    [0, 0],
    [0, 5],
    [5, 0],
    [1, 1],
    ...Array.from({ length: 60 }, () => [below(300), below(70_000)] as const),
  ] as const) {
    const [a, b] = [first, second].map((length) => Buffer.from(Array.from({ length }, () => below(256))));
    assert.ok(a !== undefined && b !== undefined);
    assert.equal(combineCrc(crc32(a), crc32(b), b.length), crc32(Buffer.concat([a, b])), `${first} and ${second}`);
  }
});
