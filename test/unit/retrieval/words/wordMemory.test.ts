import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Room, WordMemory } from '../../../../src/retrieval/words/wordMemory.ts';

test('memory that cannot be had is an error, and what is there stays where it was', () => {
  const memory = new WordMemory();
  const room = new Room(memory);
  room.hold(16);
  memory.numbers[room.address / 4] = 7;
  for (const size of [2 ** 31 - 1, 2 ** 31, 2 ** 32 + 16, 2 ** 40]) {
    assert.throws(() => room.hold(size), { name: 'AppError', code: 'limit' });
  }
  const next = memory.take(16);
  assert.ok(next > room.address && next < memory.bytes.length);
  room.hold(2_000_000);
  assert.equal(memory.numbers[room.address / 4], 7);
  assert.ok(room.address + 2_000_000 <= memory.bytes.length);
});
