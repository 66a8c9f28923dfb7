import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { MAX_FRAME_BYTES, MAX_PIECE_BYTES } from '../../../../src/remote/protocol/contents.ts';
import { rawFrame, readRawFrame, unpackPiece } from '../../../../src/remote/transfers/pieceFrame.ts';

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

test('bytes that do not compress become a frame that every decompressor reads, and that is read without one', () => {
  for (const bytes of [0, 1, 255, 131_072, 131_073, MAX_PIECE_BYTES]) {
    const piece = randomBytes(bytes);
    const frame = Buffer.concat(rawFrame(piece));
    assert.ok(frame.length <= MAX_FRAME_BYTES);
    assert.ok(zstdDecompressSync(frame).equals(piece), `${bytes} bytes`);
    assert.ok(readRawFrame(frame)?.equals(piece), `${bytes} bytes`);
    assert.ok(unpackPiece(frame)?.equals(piece), `${bytes} bytes`);
  }
});

test('such a frame is refused if it is cut, longer, larger than said or than a piece may be', () => {
  const frame = Buffer.concat(rawFrame(randomBytes(200_000)));
  const changed = (at: number, value: number): Buffer => {
    const other = Buffer.from(frame);
    other.writeUInt32LE(value, at);
    return other;
  };
  const empty = Buffer.from([0, 0, 0]);
  const refused = {
    'a header alone': frame.subarray(0, 9),
    'a cut block': frame.subarray(0, 150_000),
    'a cut end': frame.subarray(0, -1),
    'bytes behind it': Buffer.concat([frame, Buffer.alloc(1)]),
    'two frames': Buffer.concat([frame, frame]),
    'less than it says': changed(5, 200_001),
    'more than it says': changed(5, 199_999),
    'a size of 4 GB': changed(5, 0xffff_ffff),
    'too much': Buffer.concat(rawFrame(randomBytes(MAX_PIECE_BYTES + 1))),
    'only empty blocks': Buffer.concat([frame.subarray(0, 9), ...Array.from({ length: 80_000 }, () => empty)]),
  };
  for (const [what, bytes] of Object.entries(refused)) assert.equal(unpackPiece(bytes), undefined, what);
  // What the fast way does not know is left to the decompressor.
  const parts = rawFrame(Buffer.from('piece'));
  const later = Buffer.concat([parts[0] ?? empty, empty, empty, empty, ...parts.slice(1)]);
  assert.deepEqual([readRawFrame(later), unpackPiece(later)?.toString()], [undefined, 'piece']);
  for (const other of [zstdCompressSync(randomBytes(10)), zstdCompressSync(Buffer.alloc(90_000)), Buffer.alloc(0)]) {
    assert.equal(readRawFrame(other), undefined);
  }
});

test('a frame may ask its reader for 8 MB of memory, not for more', () => {
  assert.ok(unpackPiece(frameOf({ windowLog: 23 }))?.equals(PIECE));
  assert.equal(unpackPiece(frameOf({ windowLog: 24 })), undefined);
});

test('a frame may not be larger than that of the largest piece, however little it contains', () => {
  const emptyBlocks = (MAX_FRAME_BYTES - frameOf({}).length) / 3;
  assert.ok(unpackPiece(frameOf({ emptyBlocks }))?.equals(PIECE));
  assert.equal(unpackPiece(frameOf({ emptyBlocks: emptyBlocks + 1 })), undefined);
});
