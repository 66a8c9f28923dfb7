import { isMarkedAsUntransferable } from 'node:worker_threads';

/**
 * Whether nothing else can lie in the memory behind `bytes`: they begin it, and it is as long as they are or as `allocatedBytes`,
 * the size that their only owner asked for. Never true of Node.js's pool, which small buffers share and whose size differs
 * between versions.
 */
export function ownsMemory(bytes: Buffer<ArrayBuffer>, allocatedBytes = bytes.byteLength): boolean {
  const { buffer } = bytes;
  const isWhole = buffer.byteLength === bytes.byteLength || buffer.byteLength === allocatedBytes;
  return bytes.byteOffset === 0 && isWhole && !isMarkedAsUntransferable(buffer);
}

/**
 * Frees the memory of bytes that own it (see `ownsMemory`), after which they are empty. As garbage it would pile up to tens of
 * megabytes before it is collected, and shared memory is left to that.
 */
export function freeMemory(bytes: Buffer<ArrayBuffer>, allocatedBytes?: number): void {
  if (ownsMemory(bytes, allocatedBytes)) bytes.buffer.transfer(0);
}
