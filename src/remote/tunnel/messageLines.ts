import type { Readable } from 'node:stream';
import { AppError } from '../../core/errors.ts';

// The texts of scripts come in one message.
const MAX_LINE_BYTES = 64 * 2 ** 20;
const NEWLINE = 10;

/**
 * Reads the lines of a stream until it ends. What is left of an incomplete one is dropped.
 *
 * @throws AppError `corrupt` for a line of more than 64 MB; the stream's own error.
 */
export async function* readMessageLines(stream: Readable): AsyncGenerator<string, void> {
  let chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) throw new AppError('corrupt', 'Text arrived in place of bytes.');
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      yield Buffer.concat([...chunks, chunk.subarray(start, end)]).toString('utf8');
      [chunks, length, start] = [[], 0, end + 1];
    }
    chunks.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > MAX_LINE_BYTES) throw new AppError('corrupt', `A line has more than ${MAX_LINE_BYTES} bytes.`);
  }
}
