import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { batchEntry, namesIn, nameOfPiece } from '../../../../src/remote/protocol/contents.ts';

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
