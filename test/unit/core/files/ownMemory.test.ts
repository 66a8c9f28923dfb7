import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { createInflateRaw, deflateRawSync } from 'node:zlib';
import { freeMemory, freeUsedUp, ownsMemory } from '../../../../src/core/files/ownMemory.ts';

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

test('the buffers of a zlib stream are freed after their last part, and no part before it was read', async () => {
  const text = Buffer.from(Array.from({ length: 100_000 }, (_, index) => `line ${index * 7919}\n`).join(''));
  const packed = deflateRawSync(text);
  // Parts that arrive slowly let zlib return its output buffer in several parts.
  const arriving = Readable.from(
    (async function* () {
      for (let start = 0; start < packed.length; start += 5_000) yield packed.subarray(start, start + 5_000);
    })(),
  );
  const parts: Buffer[] = [];
  const chunks: Buffer[] = [];
  for await (const chunk of arriving.pipe(createInflateRaw({ chunkSize: 64 * 1024 })) as AsyncIterable<
    Buffer<ArrayBuffer>
  >) {
    parts.push(Buffer.from(chunk));
    chunks.push(chunk);
    freeUsedUp(chunk);
  }
  assert.ok(Buffer.concat(parts).equals(text));
  const freed = chunks.filter(({ length }) => length === 0).length;
  assert.ok(freed > text.length / (64 * 1024) / 2, `${freed} of ${chunks.length}`);
});

test('the end of the pool is left alone', () => {
  const pool = Buffer.from('a').buffer;
  const end = Buffer.from(pool, pool.byteLength - 8);
  freeUsedUp(end);
  assert.equal(end.length, 8);
});
