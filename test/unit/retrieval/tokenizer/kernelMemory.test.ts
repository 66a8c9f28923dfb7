import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrowableBuffer, KernelMemory } from '../../../../src/retrieval/tokenizer/kernelMemory.ts';

test('memory that cannot be had is an error, and what is there stays where it was', () => {
  const memory = new KernelMemory();
  const buffer = new GrowableBuffer(memory);
  buffer.reserve(16);
  memory.numbers[buffer.address / 4] = 7;
  for (const size of [2 ** 31 - 1, 2 ** 31, 2 ** 32 + 16, 2 ** 40]) {
    assert.throws(() => buffer.reserve(size), { name: 'AppError', code: 'limit' });
  }
  const next = memory.allocate(16);
  assert.ok(next > buffer.address && next < memory.bytes.length);
  buffer.reserve(2_000_000);
  assert.equal(memory.numbers[buffer.address / 4], 7);
  assert.ok(buffer.address + 2_000_000 <= memory.bytes.length);
});

test('what a buffer has left is for others, as zeros', () => {
  const memory = new KernelMemory();
  const [first, second, third] = [new GrowableBuffer(memory), new GrowableBuffer(memory), new GrowableBuffer(memory)];
  for (const buffer of [first, second]) buffer.reserve(1000);
  memory.bytes.fill(7, first.address, first.address + 1000);
  const { address } = first;
  first.reserve(5000, 10);
  third.reserve(600);
  assert.equal(third.address, address);
  assert.ok(memory.bytes.subarray(third.address, third.address + 600).every((byte) => byte === 0));
  assert.deepEqual([...memory.bytes.subarray(first.address + 8, first.address + 12)], [7, 7, 0, 0]);
  assert.ok(second.address >= third.address + 600);
});

test('a large memory uses what a buffer has released for others, and the buffer gets as much again', () => {
  const memory = new KernelMemory();
  const [first, second] = [new GrowableBuffer(memory), new GrowableBuffer(memory)];
  first.reserve(20_000_000);
  const { address } = first;
  memory.bytes.fill(7, address, address + 20_000_000);
  first.release();
  second.reserve(12_000_000);
  const { length } = memory.bytes;
  assert.equal(second.address, address);
  assert.ok(memory.bytes.subarray(address, address + 12_000_000).every((byte) => byte === 0));
  second.release();
  first.reserve(8);
  assert.deepEqual([first.address, first.size, memory.bytes.length], [address, 20_000_000, length]);
});

test('places that lie side by side become one, so that much can be taken where little was left', () => {
  const memory = new KernelMemory();
  const places = Array.from({ length: 8 }, () => memory.allocate(1024));
  const end = memory.allocate(16);
  for (const place of [3, 1, 2, 0, 7, 5, 6, 4]) memory.free(places[place] ?? 0, 1024);
  assert.equal(memory.allocate(8192), places[0]);
  assert.ok(memory.allocate(16) > end);
});
