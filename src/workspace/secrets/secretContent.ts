import { closeSync, constants, openSync, readSync } from 'node:fs';
import { isBinaryName, isPackedName } from '../files/fileKinds.ts';
import { findSecretInBytes } from './secretScanner.ts';

// More than the search index reads of a file. Larger files are scanned while they are packed, which reads them anyway.
const MOST_BYTES = 1 << 20;
const FEWEST_BYTES = 20;
const SAFE_READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * The name of the first secret in a text file of at most 1 MiB, or undefined. Only unmistakable formats count: private keys, and tokens
 * with their issuer's prefix and length. Placeholders do not count.
 */
export function findSecret(absolute: string, size: number, buffer: Buffer): string | undefined {
  if (size < FEWEST_BYTES || size > MOST_BYTES || isPackedName(absolute) || isBinaryName(absolute)) return undefined;
  const bytes = readBytes(absolute, buffer.subarray(0, size));
  return bytes === undefined ? undefined : findSecretInBytes(bytes);
}

/** A reusable buffer for `findSecret`. */
export function secretBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(MOST_BYTES);
}

function readBytes(absolute: string, buffer: Buffer): Buffer | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(absolute, SAFE_READ);
  } catch {
    return undefined; // packing opens it again and reports the error
  }
  try {
    return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0));
  } catch {
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}
