import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect, type Socket } from 'node:net';
import { openSocketAddress, type SocketAddress } from '../../core/files/socketAddress.ts';
import type { JobFolder } from './jobFolder.ts';

const PIPE_NAME_BYTES = 16;
const isWindows = process.platform === 'win32';

/**
 * Accepts connections into a job on a socket in its folder, which outlives the service, and which only the user of the job's runner
 * reaches; a sandboxed job does not see it. Where there can be none, nobody can connect.
 */
export function openEntrance(folder: JobFolder, onConnection: (connection: Socket) => void): Disposable {
  const server = createServer(onConnection).unref();
  server.on('error', () => {}); // the file system has no sockets
  rmSync(folder.entrance, { force: true }); // of an earlier runner that was killed
  let address: SocketAddress | undefined;
  if (isWindows) {
    // Windows has no sockets in folders. Nobody can guess the name of the pipe.
    const pipe = `\\\\.\\pipe\\farwharf-${randomBytes(PIPE_NAME_BYTES).toString('hex')}`;
    server.listen(pipe, () => writeFileSync(folder.entrance, pipe));
  } else {
    try {
      address = openSocketAddress(folder.entrance);
      server.listen(address.path);
    } catch {
      // The path is too long for a socket of this system.
    }
  }
  return {
    [Symbol.dispose]: () => {
      if (isWindows) rmSync(folder.entrance, { force: true });
      server.close(); // also removes the socket
      address?.[Symbol.dispose]();
    },
  };
}

/** Connects to the runner of a job on this machine. @throws the system's error if it accepts nobody. */
export async function enterJob({ entrance }: JobFolder): Promise<Socket> {
  using address: SocketAddress = isWindows
    ? { path: readFileSync(entrance, 'utf8'), [Symbol.dispose]: () => {} }
    : openSocketAddress(entrance);
  const socket = connect(address.path);
  await once(socket, 'connect');
  return socket;
}
