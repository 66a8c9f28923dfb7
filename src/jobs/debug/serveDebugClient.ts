import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { messageOf } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { DebugConnection, untilDrained } from './debugConnection.ts';
import { readMessages, writeMessage } from './debugMessages.ts';
import type { JobSources } from './jobSources.ts';

const LOOPBACK = '127.0.0.1';

interface ServeOptions {
  /** 0 for any free one. */
  readonly port: number;
  readonly sources: JobSources;
  /** Connects to the debugger of the job: a stream of the debug adapter protocol. */
  readonly openDebugger: () => Promise<Duplex>;
  /** Called for what happens, with a sentence. */
  readonly onEvent: (text: string) => void;
}

/**
 * Serves a job's debugger to debug clients on this machine, one at a time, until the signal is aborted. Where the system shows whose a
 * connection is (Linux), those of other users are refused.
 *
 * @returns the port.
 * @throws the system's error if the port cannot be used.
 */
export async function serveDebugClient(options: ServeOptions, signal: AbortSignal): Promise<number> {
  let current: Socket | undefined;
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {}); // it closes
    if (current !== undefined) {
      socket.destroy();
      options.onEvent('A second debug client was refused: one is connected.');
      return;
    }
    current = socket;
    serveClient(socket, options)
      .catch((error: unknown) => options.onEvent(printableLine(messageOf(error))))
      .finally(() => {
        socket.destroy();
        current = undefined;
      });
  });
  server.listen(options.port, LOOPBACK);
  await once(server, 'listening', { signal });
  signal.addEventListener(
    'abort',
    () => {
      server.close();
      current?.destroy();
    },
    { once: true },
  );
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port.');
  return address.port;
}

async function serveClient(socket: Socket, { sources, openDebugger, onEvent }: ServeOptions): Promise<void> {
  if (await isOfOtherUser(socket)) {
    onEvent('A debug client of another user of this machine was refused.');
    return;
  }
  using connection = new DebugConnection(await openDebugger(), sources, (message) => {
    if (!socket.writable || socket.write(writeMessage(message))) return undefined;
    return untilDrained(socket);
  });
  onEvent('A debug client connected.');
  void connection.ended.then(() => socket.end());
  for await (const message of readMessages(socket)) await connection.fromClient(message);
  onEvent('The debug client disconnected.');
}

/** Whether a connection on loopback is certainly of another user than this process and root. */
async function isOfOtherUser({ remotePort = 0, localPort = 0 }: Socket): Promise<boolean> {
  const own = process.getuid?.();
  if (process.platform !== 'linux' || own === undefined) return false;
  const table = await readFile('/proc/net/tcp', 'latin1').catch(() => '');
  const hex = (port: number): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const row of table.split('\n')) {
    const [, local, remote, , , , , user] = row.trim().split(/\s+/);
    if (local === hex(remotePort) && remote === hex(localPort)) return user !== String(own) && user !== '0';
  }
  return false;
}
