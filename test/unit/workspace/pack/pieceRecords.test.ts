import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { encodeHeader, encodeTimes, paddingOf } from '../../../../src/workspace/archive/tarFormat.ts';
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

/** A tar stream with one file that looks random. */
function tarOf(length: number): Buffer {
  const padding = Buffer.alloc(paddingOf(length));
  return Buffer.concat([encodeHeader({ path: 'noise', size: length, mode: 0o644 }), noise(length), padding]);
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
  const bytes = tarOf(2_000_000);
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
  const bytes = tarOf(1_000_000);
  const records = recordsOf(new PieceRecords(), bytes);
  const names = [...piecesIn(records)].map(({ name }) => name.toString('hex'));
  const namesOf = (pieces: readonly { readonly name: Buffer }[]) => pieces.map(({ name }) => name.toString('hex'));
  assert.deepEqual(
    namesOf(await split(bytes, 10_000, records, (_, index) => index % 2 === 1)),
    names.filter((_, index) => index % 2 === 1),
  );
  const third = names[2] ?? '';
  assert.deepEqual(namesOf(await split(bytes, 10_000, records, (name) => name.toString('hex') === third)), [third]);
  assert.deepEqual(
    namesOf(await split(bytes.subarray(0, -1 - paddingOf(1_000_000)), 10_000, records)),
    names.slice(0, -1),
  );
  assert.equal((await split(Buffer.concat([bytes, bytes]), 10_000, records)).length, names.length);
});

test('the pieces of a file are the same whatever its time is, and only the list of times differs', async () => {
  const pack = (mtime: string): { readonly timed: Buffer; readonly timeless: Buffer } => {
    const file = { path: 'a ü.bin', size: 700_000, mode: 0o755 };
    const rest = [noise(700_000), Buffer.alloc(paddingOf(700_000)), encodeTimes([mtime]), Buffer.alloc(1024)];
    return {
      timed: Buffer.concat([encodeHeader({ ...file, mtime }), ...rest]),
      timeless: Buffer.concat([encodeHeader(file), ...rest]),
    };
  };
  const records = recordsOf(new PieceRecords(), pack('1.5').timeless);
  for (const mtime of ['1.5', '0', '1700000000', '1700000000.123456789', '-3.25']) {
    const { timed, timeless } = pack(mtime);
    const own = recordsOf(new PieceRecords(), timeless);
    const pieces = await split(timed, 4_999, own);
    assert.ok(Buffer.concat(pieces.map(({ bytes }) => bytes)).equals(timeless), mtime);
    const names = (of: Buffer): string[] => [...piecesIn(of)].map(({ name }) => name.toString('hex'));
    assert.deepEqual(names(own).slice(0, -1), names(records).slice(0, -1));
  }
});

test('zeros are the same piece many times', () => {
  const records = new PieceRecords();
  const zeros = [...piecesIn(recordsOf(records, Buffer.alloc(3_000_000)))];
  assert.equal(new Set(zeros.map(({ name }) => name.toString('hex'))).size, 2, 'whole pieces and the rest');
  assert.equal(zeros[0]?.name.toString('hex'), sha256(Buffer.alloc(zeros[0]?.size ?? 0)));
  assert.equal(
    zeros.reduce((sum, { size }) => sum + size, 0),
    3_000_000,
  );
});
