import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { PIECE_RECORD_BYTES, PieceRecords, piecesIn } from '../../../../src/workspace/pack/pieceRecords.ts';
import { splitPieces } from '../../../../src/workspace/pack/splitPieces.ts';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Bytes that look random and are the same in each run. */
function noise(length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) =>
    createHash('sha256').update(String(index)).digest(),
  );
  return Buffer.concat(blocks).subarray(0, length);
}

function recordsOf(records: PieceRecords, bytes: Buffer): Buffer {
  records.write(bytes);
  return records.end();
}

async function* chunksOf(bytes: Buffer, step: number): AsyncGenerator<Buffer<ArrayBuffer>, void> {
  for (let start = 0; start < bytes.length; start += step) yield Buffer.from(bytes.subarray(start, start + step));
}

type IsWanted = Parameters<typeof splitPieces>[2];

async function split(bytes: Buffer, step: number, records: Buffer, isWanted: IsWanted = () => true) {
  const pieces = [];
  for await (const piece of splitPieces(chunksOf(bytes, step), piecesIn(records), isWanted)) pieces.push(piece);
  return pieces;
}

test('there is a record for each piece, of each stream anew', () => {
  const records = new PieceRecords();
  const bytes = noise(12_000_000); // more records than fit at first
  const all = [...piecesIn(recordsOf(records, bytes))];
  assert.ok(all.length > 120, String(all.length));
  let start = 0;
  for (const { name, size } of all) {
    assert.equal(name.toString('hex'), sha256(bytes.subarray(start, start + size)));
    start += size;
  }
  assert.equal(start, bytes.length);
  assert.deepEqual([...piecesIn(recordsOf(records, bytes))], all);
  assert.equal(records.end().length, 0);
  assert.deepEqual(
    [...piecesIn(recordsOf(records, Buffer.from('a')))],
    [{ name: createHash('sha256').update('a').digest(), size: 1 }],
  );
});

test('records keep no other memory than their own', () => {
  const records = recordsOf(new PieceRecords(), Buffer.from('a'));
  assert.equal(records.buffer.byteLength, PIECE_RECORD_BYTES);
});

test('a stream is split into the pieces of its records, however it arrives', async () => {
  const bytes = noise(2_000_000);
  const records = recordsOf(new PieceRecords(), bytes);
  for (const step of [999, 65_536, 2_000_000]) {
    const pieces = await split(bytes, step, records);
    assert.ok(Buffer.concat(pieces.map((piece) => piece.bytes)).equals(bytes), String(step));
    for (const piece of pieces) {
      assert.equal(piece.name.toString('hex'), sha256(piece.bytes));
      assert.equal(piece.bytes.buffer.byteLength, piece.bytes.length);
    }
  }
});

test('only wanted pieces of a stream are returned, and none that is incomplete', async () => {
  const bytes = noise(1_000_000);
  const records = recordsOf(new PieceRecords(), bytes);
  const names = [...piecesIn(records)].map(({ name }) => name.toString('hex'));
  const namesOf = (pieces: readonly { readonly name: Buffer }[]) => pieces.map(({ name }) => name.toString('hex'));
  assert.deepEqual(
    namesOf(await split(bytes, 10_000, records, (_, index) => index % 2 === 1)),
    names.filter((_, index) => index % 2 === 1),
  );
  const third = names[2] ?? '';
  assert.deepEqual(namesOf(await split(bytes, 10_000, records, (name) => name.toString('hex') === third)), [third]);
  assert.deepEqual(namesOf(await split(bytes.subarray(0, -1), 10_000, records)), names.slice(0, -1));
  assert.equal((await split(Buffer.concat([bytes, bytes]), 10_000, records)).length, names.length);
});
