import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { AppError } from '../errors.ts';
import { formatBytes } from '../text/format.ts';
import { readProblem } from './readProblem.ts';

// Files that people write or generate are smaller. What is larger is another file than was meant, or has no end.
const MAX_BYTES = 32e6;
const PIECE_BYTES = 1 << 16;
// Without it, opening a pipe waits until somebody writes to it.
const SAFE_READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

interface NamedFileOptions {
  /** What the file is called in errors; its path by default. */
  readonly name?: string;
  readonly maxBytes?: number;
}

// Whatever opens a file that a person, a folder or a service named does it here. Pipes, devices and files without an end are refused, and
// nothing waits for them.

/**
 * Reads a named text file.
 *
 * @throws AppError `missing` if it does not exist or cannot be read, `bad-input` if it is not a file or too large.
 */
export async function readNamedFile(path: string, options: NamedFileOptions = {}): Promise<string> {
  return (await readNamedBytes(path, options)).toString('utf8');
}

/** The bytes of a named file. @throws as `readNamedFile`. */
export async function readNamedBytes(path: string, options: NamedFileOptions = {}): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of namedFilePieces(path, options)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The bytes of a named file, piece by piece. @throws as `readNamedFile`. */
export async function* namedFilePieces(
  path: string,
  { name = path, maxBytes = MAX_BYTES }: NamedFileOptions = {},
): AsyncGenerator<Buffer, void> {
  try {
    // Opening a device can have effects, so its kind is checked before; and again, as another can have taken its place.
    requireFile(await stat(path), { name, maxBytes });
    await using file = await open(path, SAFE_READ);
    requireFile(await file.stat(), { name, maxBytes });
    let length = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, null);
      if (bytesRead === 0) return;
      length += bytesRead;
      // A file can grow while it is read, and one of /proc has no size.
      if (length > maxBytes) throw tooLarge(name, length, maxBytes);
      yield buffer.subarray(0, bytesRead);
    }
  } catch (cause) {
    throw failure(name, cause);
  }
}

/** As `readNamedBytes`, for a program that starts and a small file, which blocks nobody. @throws as `readNamedFile`. */
export function readNamedBytesSync(path: string, { name = path, maxBytes = MAX_BYTES }: NamedFileOptions = {}): Buffer {
  try {
    requireFile(statSync(path), { name, maxBytes });
    const descriptor = openSync(path, SAFE_READ);
    try {
      requireFile(fstatSync(descriptor), { name, maxBytes });
      const pieces: Buffer[] = [];
      let length = 0;
      for (;;) {
        const piece = Buffer.allocUnsafe(PIECE_BYTES);
        const bytesRead = readSync(descriptor, piece, 0, PIECE_BYTES, null);
        if (bytesRead === 0) return Buffer.concat(pieces);
        length += bytesRead;
        if (length > maxBytes) throw tooLarge(name, length, maxBytes);
        pieces.push(piece.subarray(0, bytesRead));
      }
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    throw failure(name, cause);
  }
}

/** Refuses what is not a file before something else opens it. @throws as `readNamedFile`. */
export async function requireNamedFile(
  path: string,
  { name = path }: Pick<NamedFileOptions, 'name'> = {},
): Promise<void> {
  try {
    requireFile(await stat(path), { name, maxBytes: Number.POSITIVE_INFINITY });
  } catch (cause) {
    throw failure(name, cause);
  }
}

function failure(name: string, cause: unknown): unknown {
  return cause instanceof AppError ? cause : new AppError('missing', readProblem(name, cause), { cause });
}

function requireFile(stats: Stats, { name, maxBytes }: { readonly name: string; readonly maxBytes: number }): void {
  if (stats.isFile()) {
    if (stats.size > maxBytes) throw tooLarge(name, stats.size, maxBytes);
    return;
  }
  if (stats.isDirectory()) throw new AppError('bad-input', `${name} is a folder. Enter the path of a file.`);
  const kind = stats.isFIFO() ? 'a pipe' : stats.isSocket() ? 'a socket' : 'a device';
  throw new AppError(
    'bad-input',
    `${name} is ${kind}, not a file. Save its contents to a file, and enter the path of that.`,
  );
}

function tooLarge(name: string, bytes: number, maxBytes: number): AppError {
  const message = `${name} has at least ${formatBytes(bytes)}, and may have at most ${formatBytes(maxBytes)}. Check the path.`;
  return new AppError('bad-input', message);
}
