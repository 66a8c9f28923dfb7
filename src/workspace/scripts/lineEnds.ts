import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { AppError } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/format.ts';

// Scripts are far smaller.
const MAX_BYTES = 4 << 20;
const OPEN_FILE = constants.O_RDWR | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Replaces the line ends of Windows (CRLF) in a file by LF, and leaves every other byte. The file itself is rewritten, so that it keeps its
 * permissions.
 *
 * @throws AppError `limit` for a file over 4 MB, `bad-input` for what is not a regular file; the system's error if it cannot be written.
 */
export async function replaceWindowsLineEnds(path: string): Promise<void> {
  await using file = await open(path, OPEN_FILE);
  const stats = await file.stat();
  if (!stats.isFile()) throw new AppError('bad-input', `${path} is not a regular file.`);
  if (stats.size > MAX_BYTES) {
    const message = `${path} has ${formatBytes(stats.size)}, and only files of up to ${formatBytes(MAX_BYTES)} are rewritten. Save it with LF line ends.`;
    throw new AppError('limit', message);
  }
  // In this encoding each byte is one character.
  const text = (await file.readFile()).toString('latin1');
  const bytes = Buffer.from(text.replaceAll('\r\n', '\n'), 'latin1');
  await file.write(bytes, 0, bytes.length, 0);
  await file.truncate(bytes.length);
}
