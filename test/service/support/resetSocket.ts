import type { Socket } from 'node:net';

/**
 * Ends a connection with an RST, unless it is closing already: a reset then fails with EINVAL, and Node.js waits for its handle until the
 * process is killed.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
