import assert from 'node:assert/strict';
import { createCipheriv } from 'node:crypto';
import { test } from 'node:test';
import { entriesIn, nameOfPiece } from '../../../../src/remote/protocol/contents.ts';
import { PieceBatch } from '../../../../src/remote/transfers/pieceBatch.ts';
import { unpackPiece } from '../../../../src/remote/transfers/unpackPiece.ts';

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
  for (const piece of pieces) batch.add(nameOfPiece(piece), piece);
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
