import { type BigIntStats, constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';

const SAFE_READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * The bytes of a regular file; undefined if it does not exist, is larger than `maxBytes`, or cannot be read. A pipe or a device in its
 * place is neither opened nor waited for.
 */
export async function readBounded(path: string, maxBytes: number): Promise<Buffer | undefined> {
  return readRegular(path, maxBytes, (stats) => isBounded(stats, maxBytes));
}

/** The first `maxBytes` of a regular file; undefined if it does not exist or cannot be read, and as `readBounded`. */
export async function readStart(path: string, maxBytes: number): Promise<Buffer | undefined> {
  return readRegular(path, maxBytes, (stats) => stats.isFile());
}

async function readRegular(
  path: string,
  maxBytes: number,
  isWanted: (stats: BigIntStats) => boolean,
): Promise<Buffer | undefined> {
  try {
    // Checked before opening it, because opening a device can have side effects.
    if (!isWanted(await stat(path, { bigint: true }))) return undefined;
    await using file = await open(path, SAFE_READ);
    const stats = await file.stat({ bigint: true });
    if (!isWanted(stats)) return undefined;
    const bytes = Buffer.allocUnsafe(Math.min(Number(stats.size), maxBytes));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return bytes.subarray(0, bytesRead);
  } catch {
    return undefined;
  }
}

function isBounded(stats: BigIntStats, maxBytes: number): boolean {
  return stats.isFile() && stats.size <= maxBytes;
}

/** Whether a regular file of at most `maxBytes` exists; links are followed. */
export async function isRegularFile(path: string, maxBytes: number): Promise<boolean> {
  return stat(path, { bigint: true }).then(
    (stats) => isBounded(stats, maxBytes),
    () => false,
  );
}
