import { open } from 'node:fs/promises';
import { systemCode } from '../core/errors.ts';
import { type LogEventData, logEventData } from '../remote/schemas.ts';

// Longer than any line that a runner writes: a piece of output is at most 64 KB, and JSON can make six bytes of one.
const READ_BYTES = 1 << 20;
const MAX_TEXT_LENGTH = 64 * 1024;
const LINE_FEED = 0x0a;

export interface OutputPage {
  readonly texts: readonly LogEventData[];
  /** Where the next page begins. */
  readonly offset: number;
}

/** The whole lines of a runner's output log after `offset`, up to about 1 MB; undefined while there are none. */
export async function readOutput(path: string, offset: number): Promise<OutputPage | undefined> {
  const bytes = await readBytes(path, offset);
  const end = bytes.lastIndexOf(LINE_FEED) + 1;
  if (end === 0) {
    // No runner writes such a line, so the job wrote it itself; it is passed over.
    return bytes.length < READ_BYTES ? undefined : { texts: [], offset: offset + bytes.length };
  }
  const lines = bytes.toString('utf8', 0, end - 1).split('\n');
  return { texts: joinNeighbours(lines.flatMap(parseFrame)), offset: offset + end };
}

function parseFrame(line: string): readonly LogEventData[] {
  try {
    return [logEventData.parse(JSON.parse(line))];
  } catch {
    return [];
  }
}

function joinNeighbours(texts: readonly LogEventData[]): readonly LogEventData[] {
  const joined: LogEventData[] = [];
  for (const { stream, text } of texts) {
    const last = joined.at(-1);
    if (last?.stream === stream && last.text.length + text.length <= MAX_TEXT_LENGTH) {
      joined[joined.length - 1] = { stream, text: last.text + text };
    } else {
      joined.push({ stream, text });
    }
  }
  return joined;
}

async function readBytes(path: string, offset: number): Promise<Buffer> {
  try {
    await using file = await open(path, 'r');
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const { bytesRead } = await file.read(buffer, 0, READ_BYTES, offset);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
