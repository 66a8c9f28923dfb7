import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Room, WordMemory } from '../../../../src/retrieval/tokenizer/wordMemory.ts';

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

test('what a room has left is for others, as zeros', () => {
  const memory = new WordMemory();
  const [first, second, third] = [new Room(memory), new Room(memory), new Room(memory)];
  for (const room of [first, second]) room.hold(1000);
  memory.bytes.fill(7, first.address, first.address + 1000);
  const { address } = first;
  first.hold(5000, 10);
  third.hold(600);
  assert.equal(third.address, address);
  assert.ok(memory.bytes.subarray(third.address, third.address + 600).every((byte) => byte === 0));
  assert.deepEqual([...memory.bytes.subarray(first.address + 8, first.address + 12)], [7, 7, 0, 0]);
  assert.ok(second.address >= third.address + 600);
});

test('places that lie side by side become one, so that much can be taken where little was left', () => {
  const memory = new WordMemory();
  const places = Array.from({ length: 8 }, () => memory.take(1024));
  const end = memory.take(16);
  for (const place of [3, 1, 2, 0, 7, 5, 6, 4]) memory.leave(places[place] ?? 0, 1024);
  assert.equal(memory.take(8192), places[0]);
  assert.ok(memory.take(16) > end);
});
