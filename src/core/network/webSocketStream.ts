import type { Duplex, Writable } from 'node:stream';
import { createWebSocketStream, type WebSocket } from 'ws';
import { gather } from './gather.ts';

/** How much of what a connection sends first is in small messages. Beyond it, they would cost more than what they save. */
const SMALL_AT_FIRST = 64 * 1024;
const SMALL_MESSAGE = 2 * 1024;

/**
 * The bytes of an open WebSocket. Where its messages begin and end means nothing. But a message arrives as a whole or not at all, so that
 * on a line which breaks before the first one is complete, connections that continue each other would never get further.
 *
 * @param carrier the connection that carries the WebSocket: what is written at once leaves in one call of the system.
 */
export function webSocketStream(socket: WebSocket, carrier: Writable): Duplex {
  let small = SMALL_AT_FIRST;
  const send = (chunks: readonly Buffer[], done: (error?: Error | null) => void): void => {
    const messages = gather(chunks).flatMap((message) => {
      if (small <= 0) return message;
      small -= message.length;
      return slices(message);
    });
    const last = messages.pop();
    carrier.cork();
    for (const message of messages) socket.send(message);
    socket.send(last ?? '', done);
    carrier.uncork();
  };
  const stream = createWebSocketStream(socket, {
    writev(chunks, done) {
      send(
        chunks.map(({ chunk }: { chunk: Buffer }) => chunk),
        done,
      );
    },
  });
  stream._write = (chunk: Buffer, _encoding, done) => send([chunk], done);
  return stream;
}

function slices(bytes: Buffer): readonly Buffer[] {
  const count = Math.ceil(bytes.length / SMALL_MESSAGE);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * SMALL_MESSAGE, (at + 1) * SMALL_MESSAGE));
}
