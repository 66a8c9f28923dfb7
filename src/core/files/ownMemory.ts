import { isMarkedAsUntransferable } from 'node:worker_threads';

/**
 * Whether `bytes` are the only data in their memory: they are at its start, and it has their length or `allocatedBytes`, the size that
 * their owner allocated. Never true for Node.js's pool, which small buffers share.
 */
export function ownsMemory(bytes: Buffer<ArrayBuffer>, allocatedBytes = bytes.byteLength): boolean {
  const { buffer } = bytes;
  const isWhole = buffer.byteLength === bytes.byteLength || buffer.byteLength === allocatedBytes;
  return bytes.byteOffset === 0 && isWhole && !isMarkedAsUntransferable(buffer);
}

/**
 * Frees the memory of bytes that own it (see `ownsMemory`) and leaves them empty; shared memory is left to the garbage collector, which
 * would let tens of megabytes accumulate.
 */
export function freeMemory(bytes: Buffer<ArrayBuffer>, allocatedBytes?: number): void {
  if (ownsMemory(bytes, allocatedBytes)) bytes.buffer.transfer(0);
}

/**
 * Frees the memory that `bytes` are the end of. For the chunks of a stream in order, of which none is used any more: a stream of Node's zlib
 * returns the parts of its output buffer one after the other, and takes another buffer after the last.
 */
export function freeUsedUp(bytes: Buffer<ArrayBuffer>): void {
  const { buffer, byteOffset, byteLength } = bytes;
  if (byteOffset + byteLength === buffer.byteLength && !isMarkedAsUntransferable(buffer)) buffer.transfer(0);
}
