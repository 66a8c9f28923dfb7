import { constants, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { AppError } from '../errors.ts';
import { formatBytes } from '../text/format.ts';
import { readProblem } from './readProblem.ts';

// Files that people write or generate are smaller. What is larger is another file than was meant, or has no end.
const MAX_BYTES = 32e6;
const PIECE_BYTES = 1 << 16;
// Without it, opening a pipe waits until somebody writes to it.
const SAFE_READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Reads a text file that a person, a folder or a service named. Pipes, devices and files without an end are refused, and nothing waits for
 * them.
 *
 * @param options.name what the file is called in errors; its path by default.
 * @throws AppError `missing` if it does not exist or cannot be read, `bad-input` if it is not a file or too large.
 */
export async function readNamedFile(
  path: string,
  { name = path, maxBytes = MAX_BYTES }: { readonly name?: string; readonly maxBytes?: number } = {},
): Promise<string> {
  try {
    // Opening a device can have effects, so its kind is checked before; and again, as another can have taken its place.
    requireFile(await stat(path), { name, maxBytes });
    await using file = await open(path, SAFE_READ);
    requireFile(await file.stat(), { name, maxBytes });
    const pieces: Buffer[] = [];
    let length = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, null);
      if (bytesRead === 0) return Buffer.concat(pieces).toString('utf8');
      length += bytesRead;
      // A file can grow while it is read, and one of /proc has no size.
      if (length > maxBytes) throw tooLarge(name, length, maxBytes);
      pieces.push(buffer.subarray(0, bytesRead));
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError('missing', readProblem(name, cause), { cause });
  }
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
