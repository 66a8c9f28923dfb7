import type { Readable } from 'node:stream';
import { AppError } from '../../core/errors.ts';
import { parseJson } from '../../core/jsonFields.ts';

// Debuggers send variables in pages, so real messages are smaller by far.
const MAX_MESSAGE_BYTES = 16 * 2 ** 20;
const MAX_HEADER_BYTES = 4096;
const HEADER_END = '\r\n\r\n';

/** A message of the debug adapter protocol: a JSON object, of which nothing is checked. */
export type DebugMessage = Readonly<Record<string, unknown>>;

/** A message with the header that goes before it. */
export function writeMessage(message: DebugMessage): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}${HEADER_END}`), body]);
}

/**
 * Reads messages from a stream until it ends. What is left of an incomplete one is dropped.
 *
 * @throws AppError `corrupt` for anything but messages, or one of more than 16 MB; the stream's own error.
 */
export async function* readMessages(stream: Readable): AsyncGenerator<DebugMessage, void> {
  let chunks: Buffer[] = [];
  let length = 0;
  // How much must have arrived before the rest can be read, so that a large message is put together once.
  let needed = 0;
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) throw damaged('text in place of bytes');
    chunks.push(chunk);
    length += chunk.length;
    if (length < needed) continue;
    let rest: Buffer = Buffer.concat(chunks);
    for (;;) {
      const end = rest.indexOf(HEADER_END);
      if (end === -1 ? rest.length > MAX_HEADER_BYTES : end > MAX_HEADER_BYTES) throw damaged('a long header');
      needed = 0;
      if (end === -1) break;
      const start = end + HEADER_END.length;
      needed = start + bodyLength(rest.toString('latin1', 0, end));
      if (rest.length < needed) break;
      yield parseMessage(rest.toString('utf8', start, needed));
      rest = rest.subarray(needed);
    }
    chunks = rest.length === 0 ? [] : [rest];
    length = rest.length;
  }
}

function bodyLength(header: string): number {
  const [, digits] = /(?:^|\r\n)content-length: *(\d{1,9}) *(?:\r\n|$)/i.exec(header) ?? [];
  if (digits === undefined) throw damaged('a header without a length');
  const length = Number(digits);
  if (length > MAX_MESSAGE_BYTES) throw damaged(`a message of ${length} bytes`);
  return length;
}

function parseMessage(text: string): DebugMessage {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw damaged('a message that is not JSON', error);
  }
  if (!isObject(value)) throw damaged('a message that is not an object');
  return value;
}

/** Whether a value of JSON is an object with fields. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function damaged(what: string, cause?: unknown): AppError {
  return new AppError('corrupt', `What arrived is not the debug adapter protocol: ${what}.`, { cause });
}
