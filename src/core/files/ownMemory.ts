import { isMarkedAsUntransferable } from 'node:worker_threads';

/**
 * Whether `bytes` are the only data in their memory: they are at its start, and it has their length or `allocatedBytes`, the size that
 * their owner allocated. Never true for Node.js's pool, which small buffers share.
 */
export function ownsMemory(bytes: Buffer, allocatedBytes = bytes.byteLength): boolean {
  const { buffer } = bytes;
  const isWhole = buffer.byteLength === bytes.byteLength || buffer.byteLength === allocatedBytes;
  return bytes.byteOffset === 0 && isWhole && !isMarkedAsUntransferable(buffer);
}

/**
 * Frees the memory of bytes that own it (see `ownsMemory`) and leaves them empty; shared memory is left to the garbage collector, which
 * would let tens of megabytes accumulate.
 */
export function freeMemory(bytes: Buffer, allocatedBytes?: number): void {
  if (bytes.buffer instanceof ArrayBuffer && ownsMemory(bytes, allocatedBytes)) bytes.buffer.transfer(0);
}

/**
 * Frees the buffer of which `bytes` are the end. For chunks of a stream that are passed in order once they are no longer used: a zlib
 * stream of Node.js returns consecutive parts of one output buffer, and takes a new buffer after the last.
 */
export function freeUsedUp(bytes: Buffer<ArrayBuffer>): void {
  const { buffer, byteOffset, byteLength } = bytes;
  if (byteOffset + byteLength === buffer.byteLength && !isMarkedAsUntransferable(buffer)) buffer.transfer(0);
}
