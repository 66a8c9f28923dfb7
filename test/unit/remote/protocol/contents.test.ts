import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import {
  batchEntry,
  entriesIn,
  MAX_FRAME_BYTES,
  namesIn,
  nameOfPiece,
} from '../../../../src/remote/protocol/contents.ts';

test('a batch has the name of each piece, the length of its frame in 32 bits, and the frame', () => {
  const piece = Buffer.from('piece');
  const frame = Buffer.alloc(70_000, 'f');
  const sent = Buffer.concat(batchEntry(nameOfPiece(piece), frame));
  assert.equal(sent.subarray(0, 32).toString('hex'), hash('sha256', 'piece'));
  assert.deepEqual([...sent.subarray(32, 36)], [0x70, 0x11, 0x01, 0x00]); // 70,000, little-endian
  assert.deepEqual(sent.subarray(36), frame);
});

test('a list is cut into its names, and one of another length is none', () => {
  const names = ['a', 'b', 'c'].map((text) => nameOfPiece(Buffer.from(text)));
  assert.deepEqual(namesIn(Buffer.concat(names)), names);
  assert.deepEqual(namesIn(Buffer.alloc(0)), []);
  assert.equal(namesIn(Buffer.alloc(33)), undefined);
});

/** What is read of a batch that arrives in parts of so many bytes. */
async function readBatch(bytes: Buffer, partBytes = bytes.length): Promise<(string | undefined)[]> {
  const parts = async function* () {
    for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes);
  };
  const entries = await Array.fromAsync(entriesIn(parts()));
  return entries.map((entry) => entry && `${entry.name.toString().slice(0, 4)}:${entry.frame.toString().slice(0, 4)}`);
}

test('a batch is read however it is cut on the way', async () => {
  const name = Buffer.alloc(32, 'name');
  const batch = Buffer.concat([
    ...batchEntry(name, Buffer.from('one')),
    ...batchEntry(name, Buffer.alloc(0)),
    ...batchEntry(name, Buffer.from('two')),
    ...batchEntry(name, Buffer.alloc(0)),
  ]);
  for (const partBytes of [1, 35, 36, 37, 40, 200]) {
    const read = await readBatch(batch, partBytes);
    assert.deepEqual(read, ['name:one', 'name:', 'name:two', 'name:'], `parts of ${partBytes}`);
  }
  assert.deepEqual(await readBatch(Buffer.alloc(0), 1), []);
});

test('a batch that ends inside a piece, or has too large a frame, ends with what cannot be read', async () => {
  const name = Buffer.alloc(32, 'name');
  const whole = Buffer.concat(batchEntry(name, Buffer.from('one')));
  for (const cut of [1, 3, 4, whole.length - 1]) {
    assert.deepEqual(await readBatch(Buffer.concat([whole, whole.subarray(0, -cut)])), ['name:one', undefined]);
  }
  const largest = Buffer.concat(batchEntry(name, Buffer.alloc(MAX_FRAME_BYTES, 'f')));
  assert.deepEqual(await readBatch(largest), ['name:ffff']);
  const larger = Buffer.concat([...batchEntry(name, Buffer.alloc(MAX_FRAME_BYTES + 1)), whole]);
  assert.deepEqual(await readBatch(larger), [undefined]);
});
