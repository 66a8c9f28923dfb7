import type { IncomingMessage } from 'node:http';

// A connection without any data for this long is dead.
const STALL_MS = 120_000;

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
