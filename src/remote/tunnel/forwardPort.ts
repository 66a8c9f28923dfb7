import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError, systemCode } from '../../core/errors.ts';
import { joinSocket } from '../../core/network/joinStreams.ts';

const TAKEN = new Set(['EADDRINUSE', 'EACCES']);

/** A port of this machine that leads to one of a job. Its disposal ends its connections. */
export interface ForwardedPort extends AsyncDisposable {
  /** The number here, on 127.0.0.1, and on ::1 if it is free there. */
  readonly localPort: number;
}

export interface ForwardOptions {
  /** The number here; that of the job's port by default, or another one if that is in use. */
  readonly localPort?: number | undefined;
  /** Called with the reason when a connection did not come about. */
  readonly onFailure?: (error: unknown) => void;
}

/**
 * Lets programs of this machine connect to a port of a job. Listens on loopback only.
 *
 * @throws AppError `conflict` if `localPort` was chosen and is in use.
 */
export async function forwardPort(
  tunnel: { connect(port: number, options: { readonly signal: AbortSignal }): Promise<Duplex> },
  port: number,
  { localPort, onFailure }: ForwardOptions = {},
): Promise<ForwardedPort> {
  const closed = new AbortController();
  const sockets = new Set<Socket>();
  const listenAt = (host: string, at: number): Promise<Server> => {
    const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true });
    server.on('connection', (socket: Socket) => void pass(socket));
    server.listen({ host, port: at });
    return once(server, 'listening').then(() => server);
  };
  const server = await listenAt('127.0.0.1', localPort ?? port).catch((error: unknown) => {
    if (!TAKEN.has(systemCode(error) ?? '')) throw error;
    if (localPort === undefined) return listenAt('127.0.0.1', 0);
    throw new AppError('conflict', `Port ${localPort} of this machine is in use. Choose another one, or none.`, {
      cause: error,
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('The listener has no port.');
  // Browsers try it first for the name localhost; some machines have no IPv6.
  const second = await listenAt('::1', address.port).catch(() => undefined);

  async function pass(socket: Socket): Promise<void> {
    const gone = new AbortController();
    sockets.add(socket);
    socket.on('error', () => {}); // its close follows
    socket.once('close', () => {
      sockets.delete(socket);
      gone.abort(new AppError('conflict', 'The connection was closed.'));
    });
    try {
      const channel = await tunnel.connect(port, { signal: gone.signal });
      if (socket.destroyed) channel.destroy();
      else joinSocket(socket, channel);
    } catch (error) {
      const isGone = socket.destroyed;
      socket.resetAndDestroy();
      if (!isGone && !closed.signal.aborted) onFailure?.(error);
    }
  }

  return {
    localPort: address.port,
    async [Symbol.asyncDispose]() {
      closed.abort();
      const servers = [server, ...(second === undefined ? [] : [second])];
      const ends = servers.map((each) => once(each, 'close'));
      for (const each of servers) each.close();
      for (const socket of sockets) socket.destroy();
      await Promise.all(ends);
    },
  };
}
