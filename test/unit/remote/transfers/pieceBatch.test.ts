import assert from 'node:assert/strict';
import { createCipheriv } from 'node:crypto';
import { test } from 'node:test';
import {
  entriesIn,
  MAX_BATCH_PIECES,
  MAX_PIECE_BYTES,
  nameOfPiece,
  PIECE_HEADER_BYTES,
} from '../../../../src/remote/protocol/contents.ts';
import { PieceBatch } from '../../../../src/remote/transfers/pieceBatch.ts';
import { unpackPiece } from '../../../../src/remote/transfers/pieceFrame.ts';

/** The same bytes each time, which do not compress. */
function noise(bytes: number): Buffer {
  return createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(bytes));
}

test('a piece becomes exactly one frame, whatever its size', async () => {
  const batch = new PieceBatch();
  const pieces: Buffer[] = [];
  // zlib gives its output in parts of 16 KB, and a frame that filled the last one exactly was followed by an empty frame.
  for (const parts of [1, 2, 3, 5]) {
    for (let header = 0; header < 40; header += 1) pieces.push(noise(parts * 16_384 - header));
  }
  for (const piece of pieces) batch.add(nameOfPiece(piece), Buffer.from(piece));
  const body = await batch.take();
  let index = 0;
  for await (const entry of entriesIn(
    (async function* () {
      yield body;
    })(),
  )) {
    const piece = pieces[index];
    assert.ok(piece && entry);
    assert.ok(unpackPiece(entry.frame)?.equals(piece), `a piece of ${piece.length} bytes`);
    index += 1;
  }
  assert.equal(index, pieces.length);
});

test('a batch is full by its bytes or its number of pieces, and empty again once it is taken', async () => {
  const batch = new PieceBatch();
  const state = () => ({ isEmpty: batch.isEmpty, isFull: batch.isFull });
  const addMany = (count: number, piece: Buffer): void => {
    for (let added = 0; added < count; added += 1) batch.add(nameOfPiece(piece), Buffer.from(piece));
  };
  assert.deepEqual(state(), { isEmpty: true, isFull: false });
  const header = PIECE_HEADER_BYTES;
  addMany(15, Buffer.alloc(MAX_PIECE_BYTES - header));
  addMany(1, Buffer.alloc(MAX_PIECE_BYTES - 2 * header));
  assert.deepEqual(state(), { isEmpty: false, isFull: false });
  addMany(1, Buffer.alloc(0));
  assert.deepEqual(state(), { isEmpty: false, isFull: true });
  await batch.take();
  assert.deepEqual(state(), { isEmpty: true, isFull: false });
  assert.equal((await batch.take()).length, 0);
  addMany(MAX_BATCH_PIECES - 1, Buffer.alloc(1));
  assert.equal(batch.isFull, false);
  addMany(1, Buffer.alloc(1));
  assert.equal(batch.isFull, true);
  await batch.take();
});

test('the memory of pieces is freed after they were compressed', async () => {
  const batch = new PieceBatch();
  const pieces = [noise(MAX_PIECE_BYTES), Buffer.alloc(MAX_PIECE_BYTES)].map((piece) =>
    Buffer.from(new Uint8Array(piece).buffer),
  );
  for (const [index, piece] of pieces.entries()) batch.add(nameOfPiece(piece), piece, index === 0);
  assert.ok((await batch.take()).length > MAX_PIECE_BYTES);
  assert.deepEqual(
    pieces.map(({ length }) => length),
    [0, 0],
  );
});

test('a body stays as it is while the next one is taken, then its memory is used again', async () => {
  const batch = new PieceBatch();
  const take = async (piece: Buffer): Promise<Buffer> => {
    batch.add(nameOfPiece(piece), Buffer.from(piece));
    return batch.take();
  };
  const first = await take(noise(10_000));
  const kept = Buffer.from(first);
  await take(noise(9_000));
  assert.ok(first.equals(kept));
  const third = await take(noise(8_000));
  assert.equal(third.buffer, first.buffer);
  assert.ok(third.length < first.length);
});
