import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { isJoinedFrames, joinFrames, readFrames } from '../../../../src/service/contents/keptFrames.ts';

const PIECES = [
  randomBytes(200_000),
  Buffer.alloc(262_144),
  Buffer.from('x'),
  ...Array.from({ length: 20 }, () => randomBytes(90_000)),
];
const JOINED = joinFrames(PIECES.map((piece) => zstdCompressSync(piece)));

test('the pieces of a submission are read back from what keeps them', () => {
  assert.ok(isJoinedFrames(JOINED));
  const read = [...readFrames(JOINED)];
  assert.equal(read.length, PIECES.length);
  assert.ok(Buffer.concat(read).equals(Buffer.concat(PIECES)));
});

test('pieces that were damaged or cut off are refused', () => {
  for (const at of [5, 9, 20, 150_000, JOINED.length - 1]) {
    const changed = Buffer.from(JOINED);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.throws(() => [...readFrames(changed)], { code: 'corrupt' }, `byte ${at}`);
  }
  for (const length of [JOINED.length - 1, 7]) {
    assert.throws(() => [...readFrames(JOINED.subarray(0, length))], { code: 'corrupt' }, `${length} bytes`);
  }
});
