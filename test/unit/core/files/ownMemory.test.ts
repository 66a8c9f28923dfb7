import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freeMemory, ownsMemory } from '../../../../src/core/files/ownMemory.ts';

test('memory that bytes have for themselves is freed', () => {
  const bytes = Buffer.allocUnsafeSlow(100);
  freeMemory(bytes);
  assert.equal(bytes.length, 0);
});

test('the memory of a part is freed only when its owner says how large the whole is', () => {
  const part = Buffer.allocUnsafeSlow(100).subarray(0, 10).fill(7);
  freeMemory(part);
  freeMemory(part, 99);
  assert.equal(part.length, 10);
  freeMemory(part, 100);
  assert.equal(part.length, 0);
});

test('a part that does not begin its memory is left alone', () => {
  assert.equal(ownsMemory(Buffer.allocUnsafeSlow(100).subarray(50), 100), false);
});

test('the pool is left alone, however large it is said to be', () => {
  // Filled until the next one begins a pool anew.
  const pooled: Buffer<ArrayBuffer>[] = [];
  for (let bytes = Buffer.from('a'); !pooled.some(({ byteOffset }) => byteOffset === 0); bytes = Buffer.from('a')) {
    pooled.push(bytes);
  }
  const first = pooled.at(-1) ?? Buffer.alloc(0);
  assert.ok(first.buffer.byteLength > 1);
  freeMemory(first, first.buffer.byteLength);
  assert.equal(first.toString(), 'a');
});
