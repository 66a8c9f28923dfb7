import type { FileHandle } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { createInflateRaw, type InflateRaw, type ZlibOptions } from 'node:zlib';
import { freeMemory } from '../../core/files/ownMemory.ts';

const READ_BYTES = 256 * 1024;

/** Where compressed bytes are in a file. */
export interface FileRange {
  readonly start: number;
  readonly bytes: number;
}

/**
 * The stream of what a part of a file unpacks to. The file stays open. It is read through one buffer: the buffers of a file stream are left
 * to the garbage collector, which would then take a quarter of the time.
 *
 * The stream fails with the errors of reading, those of zlib, and an abort.
 */
export function inflateFile(
  file: FileHandle,
  range: FileRange,
  { signal, ...options }: ZlibOptions & { readonly signal?: AbortSignal | undefined },
): InflateRaw {
  const inflate = createInflateRaw(options);
  if (signal !== undefined) addAbortSignal(signal, inflate);
  inflate.once('end', () => inflate.destroy()); // what follows the end of the compressed data is not read
  feed(inflate, file, range).catch((error: unknown) =>
    inflate.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  return inflate;
}

async function feed(inflate: InflateRaw, file: FileHandle, { start, bytes }: FileRange): Promise<void> {
  const memory = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, bytes));
  for (let done = 0; done < bytes && !inflate.destroyed; ) {
    const { bytesRead } = await file.read(memory, 0, Math.min(memory.length, bytes - done), start + done);
    if (bytesRead === 0) break; // the file was truncated, which shows in what is unpacked
    await useUp(inflate, memory.subarray(0, bytesRead));
    done += bytesRead;
  }
  freeMemory(memory);
  inflate.end();
}

/** Resolves when the bytes are used up, so that their memory can be used again. A failure reaches those who read the stream. */
function useUp(inflate: InflateRaw, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    inflate.write(bytes, () => resolve());
  });
}
