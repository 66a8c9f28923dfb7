import type { IncomingMessage } from 'node:http';
import { freeMemory } from '../../../core/files/ownMemory.ts';
import { refusal } from './httpRefusal.ts';

// The minimum rate for any line, after half a minute: 8 KB/s.
const timeLimitMs = (maxBytes: number): number => 30_000 + maxBytes / 8;

// A connection without any data for this long is dead.
const STALL_MS = 120_000;

/**
 * The body of a request, in memory. A client that sends it bit by bit is disconnected after a time that suits the largest one.
 *
 * @throws HTTPException 413 above `maxBytes`, the error of the connection. The rest is then read and dropped, so that the client reads the response.
 */
export async function readRequestBody(
  incoming: IncomingMessage,
  maxBytes: number,
  limitMs = timeLimitMs(maxBytes),
): Promise<Buffer<ArrayBuffer>> {
  using _stall = endStalled(incoming);
  const timer = setTimeout(() => incoming.destroy(), limitMs);
  using _deadline = { [Symbol.dispose]: () => clearTimeout(timer) };
  const chunks: Buffer<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer<ArrayBuffer>>) {
    length += chunk.length;
    if (length > maxBytes) {
      incoming.resume();
      throw refusal(413, `The body is larger than ${maxBytes} bytes, the limit of this request.`);
    }
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  for (const chunk of chunks) freeMemory(chunk);
  return body;
}

/** Ends a request whose client stops sending, until it is disposed. Uploads may take hours, so the server has no limit for a whole request. */
export function endStalled(incoming: IncomingMessage): Disposable {
  const { socket } = incoming;
  const end = (): void => void incoming.destroy();
  socket.setTimeout(STALL_MS, end);
  return {
    [Symbol.dispose]: () => {
      socket.setTimeout(0);
      socket.off('timeout', end);
    },
  };
}
