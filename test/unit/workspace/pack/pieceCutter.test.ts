import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { PieceCutter } from '../../../../src/workspace/pack/pieceCutter.ts';
import { MAX_PIECE_BYTES } from '../../../../src/remote/protocol/contents.ts';

/** Bytes that look random and are the same in each run. */
function noise(length: number, seed: string): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) =>
    createHash('sha256').update(`${seed} ${index}`).digest(),
  );
  return Buffer.concat(blocks).subarray(0, length);
}

function cut(bytes: Buffer, step = bytes.length): Buffer[] {
  const cutter = new PieceCutter();
  const pieces: Buffer[] = [];
  const add = (piece: Buffer): void => void pieces.push(Buffer.from(piece));
  for (let start = 0; start < bytes.length; start += step) cutter.write(bytes.subarray(start, start + step), add);
  cutter.end(add);
  return pieces;
}

test('the pieces are the whole stream, within their sizes, however it arrives', () => {
  const bytes = noise(3_000_000, 'a');
  const pieces = cut(bytes);
  assert.ok(Buffer.concat(pieces).equals(bytes));
  assert.ok(pieces.length > 20 && pieces.length < 120, String(pieces.length));
  for (const piece of pieces.slice(0, -1)) assert.ok(piece.length >= 16_384 && piece.length <= MAX_PIECE_BYTES);
  for (const step of [1_000, 16_384, 262_144, 999_983]) assert.deepEqual(cut(bytes, step), pieces, String(step));
  assert.deepEqual(cut(Buffer.alloc(0)), []);
  const zeros = cut(Buffer.alloc(1_000_000));
  assert.ok(zeros.every((piece) => piece.length <= MAX_PIECE_BYTES));
});

test('an insertion, a removal and a change leave all pieces but a few', () => {
  const bytes = noise(4_000_000, 'b');
  const known = new Set(cut(bytes).map((piece) => piece.toString('latin1')));
  const changed = [
    Buffer.concat([bytes.subarray(0, 2_000_001), noise(100_000, 'c'), bytes.subarray(2_000_001)]),
    Buffer.concat([bytes.subarray(0, 1_000_003), bytes.subarray(1_200_000)]),
    Buffer.concat([Buffer.from('x'), bytes]),
  ];
  for (const [index, each] of changed.entries()) {
    const fresh = cut(each).filter((piece) => !known.has(piece.toString('latin1')));
    const freshBytes = fresh.reduce((sum, { length }) => sum + length, 0);
    assert.ok(freshBytes < 700_000, `${index}: ${freshBytes}`);
  }
});
