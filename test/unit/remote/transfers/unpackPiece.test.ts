import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { MAX_FRAME_BYTES, MAX_PIECE_BYTES } from '../../../../src/remote/protocol/contents.ts';
import { unpackPiece } from '../../../../src/remote/transfers/unpackPiece.ts';

test('one frame of at most the largest piece is unpacked, also an empty one', () => {
  for (const bytes of [0, 1, MAX_PIECE_BYTES / 2, MAX_PIECE_BYTES / 2 + 1, MAX_PIECE_BYTES]) {
    const piece = randomBytes(bytes);
    assert.ok(unpackPiece(zstdCompressSync(piece))?.equals(piece), `${bytes} bytes`);
  }
});

test('what is larger, incomplete, no frame, or more than one frame is refused', () => {
  const frame = zstdCompressSync(Buffer.from('piece'));
  const refused = {
    'a byte too many': zstdCompressSync(Buffer.alloc(MAX_PIECE_BYTES + 1)),
    nothing: Buffer.alloc(0),
    'other bytes': Buffer.from('not a frame'),
    'a cut frame': frame.subarray(0, -1),
    'bytes behind it': Buffer.concat([frame, Buffer.alloc(1)]),
    'two frames': Buffer.concat([frame, frame]),
  };
  for (const [what, bytes] of Object.entries(refused)) assert.equal(unpackPiece(bytes), undefined, what);
});

const PIECE = Buffer.from('piece');

/** RFC 8878, section 3.1.1: the magic number, a descriptor, the window, empty raw blocks, and the last one with the piece. */
function frameOf({ windowLog = 20, emptyBlocks = 0 }): Buffer {
  const header = Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3);
  return Buffer.concat([header, Buffer.alloc(3 * emptyBlocks), Buffer.of((PIECE.length << 3) | 1, 0, 0), PIECE]);
}

test('a frame may ask its reader for 8 MB of memory, not for more', () => {
  assert.ok(unpackPiece(frameOf({ windowLog: 23 }))?.equals(PIECE));
  assert.equal(unpackPiece(frameOf({ windowLog: 24 })), undefined);
});

test('a frame may not be larger than that of the largest piece, however little it contains', () => {
  const emptyBlocks = (MAX_FRAME_BYTES - frameOf({}).length) / 3;
  assert.ok(unpackPiece(frameOf({ emptyBlocks }))?.equals(PIECE));
  assert.equal(unpackPiece(frameOf({ emptyBlocks: emptyBlocks + 1 })), undefined);
});
