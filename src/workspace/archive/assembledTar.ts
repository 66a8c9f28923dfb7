import { type FileHandle, open } from 'node:fs/promises';
import { AppError } from '../../core/errors.ts';
import { openRegularFile } from '../files/fileReading.ts';
import { markOf } from '../files/localFile.ts';

const CHUNK_BYTES = 1 << 20;

/** A part of a tar stream that is also a part of a file on this machine. */
export interface TarSource {
  /** Where it begins in the stream. */
  readonly start: number;
  readonly bytes: number;
  /** Absolute path of the file. */
  readonly path: string;
  /** Where it begins in the file. */
  readonly position: number;
  /** The `markOf` the file when the bytes were checked. */
  readonly mark: string;
}

/** A tar stream that we put together ourselves. What others send is a `.tar.gz`. */
export interface AssembledTar {
  /** The path of a file with the stream, which may have holes in place of what `sources` have. */
  readonly path: string;
  /** In order. */
  readonly sources: readonly TarSource[];
}

/**
 * The stream, of which each chunk is valid until the next.
 *
 * @throws AppError `conflict` if a source has changed since it was checked; the system's error.
 */
export async function* readAssembledTar({ path, sources }: AssembledTar): AsyncGenerator<Buffer, void> {
  await using tar = await open(path, 'r');
  const { size } = await tar.stat();
  const memory = [0, 1].map(() => Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, size)));
  let done = 0;
  for (const source of sources) {
    yield* readRange(tar, { start: done, end: source.start }, memory);
    yield* readSource(source, memory);
    done = source.start + source.bytes;
  }
  yield* readRange(tar, { start: done, end: size }, memory);
}

async function* readSource(
  { path, position, bytes, mark }: TarSource,
  memory: readonly Buffer[],
): AsyncGenerator<Buffer, void> {
  const { handle: file } = await openRegularFile(path, path).catch((error: unknown) => {
    throw changed(path, error);
  });
  try {
    let read = 0;
    for await (const chunk of readRange(file, { start: position, end: position + bytes }, memory)) {
      // Checked after each read, before anybody uses the bytes.
      if (markOf(await file.stat({ bigint: true })) !== mark) throw changed(path);
      read += chunk.length;
      yield chunk;
    }
    if (read < bytes) throw changed(path);
  } finally {
    await file.close();
  }
}

/** Reads the next chunk while the last one is used. */
async function* readRange(
  file: FileHandle,
  { start, end }: { readonly start: number; readonly end: number },
  memory: readonly Buffer[],
): AsyncGenerator<Buffer, void> {
  const readAt = async (at: number): Promise<Buffer | undefined> => {
    const buffer = memory[((at - start) / CHUNK_BYTES) % 2];
    if (buffer === undefined || at >= end) return undefined;
    const length = Math.min(buffer.length, end - at);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await file.read(buffer, filled, length - filled, at + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return filled === 0 ? undefined : buffer.subarray(0, filled);
  };
  let next = readAt(start);
  try {
    for (let at = start; ; ) {
      const chunk = await next;
      if (chunk === undefined) return;
      at += CHUNK_BYTES;
      next = readAt(at);
      next.catch(() => {}); // reported when it is awaited
      yield chunk;
    }
  } finally {
    await next.catch(() => {}); // it uses the memory and the file
  }
}

function changed(path: string, cause?: unknown): AppError {
  return new AppError('conflict', `${path} changed while results were made from it. Download them again.`, { cause });
}
