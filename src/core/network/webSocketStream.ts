import type { Duplex, Writable } from 'node:stream';
import { createWebSocketStream, type WebSocket } from 'ws';
import { gather } from './gather.ts';

/**
 * The bytes of an open WebSocket. Where its messages begin and end means nothing.
 *
 * @param carrier the connection that carries the WebSocket: what is written at once leaves in one call of the system.
 */
export function webSocketStream(socket: WebSocket, carrier: Writable): Duplex {
  return createWebSocketStream(socket, {
    writev(chunks, done) {
      const messages = gather(chunks.map(({ chunk }: { chunk: Buffer }) => chunk));
      const last = messages.pop();
      carrier.cork();
      for (const message of messages) socket.send(message);
      socket.send(last ?? '', done);
      carrier.uncork();
    },
  });
}
