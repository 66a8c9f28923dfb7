import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, messageOf } from '../../../core/errors.ts';
import { joinSocket } from '../../../core/network/joinStreams.ts';
import type { PortEvent, PortHeader } from '../../../remote/tunnel/portChannels.ts';
import { writeLine } from '../../../remote/tunnel/tunnelProtocol.ts';
import {
  describePorts,
  type Listener,
  listenersOf,
  loopbackOf,
  otherEndOf,
  ownersOf,
  readTcpSockets,
  type TcpSocket,
} from './listeningPorts.ts';

const WATCH_MS = 1_000;
const LONGEST_ACCEPT_POLL_MS = 250;

/** IDs of all processes of a job. */
export type ProcessesOfJob = () => Iterable<number>;

/** Does what a client asks about the ports of a job. Only what processes of the job listen on is shown and reached. */
export async function servePorts(control: Duplex, header: PortHeader, processes: ProcessesOfJob): Promise<void> {
  const send = (event: PortEvent): void => void control.write(writeLine(event));
  try {
    if (header.type === 'connect') {
      const socket = await connectTo(control, header.port, processes);
      send({ type: 'connected' });
      joinSocket(socket, control);
      return;
    }
    control.resume(); // the client only closes it
    if (header.isWatching) await watchPorts(control, processes, send);
    else send({ type: 'ports', ports: describePorts(listenersOf(await readTcpSockets(), processes())) });
  } catch (error) {
    const code =
      error instanceof AppError && (error.code === 'missing' || error.code === 'limit') ? error.code : 'refused';
    send({ type: 'failed', code, message: messageOf(error) });
    control.resume();
  }
  control.end();
}

/** Reports the ports after each change, until the client closes the channel. */
async function watchPorts(control: Duplex, processes: ProcessesOfJob, send: (event: PortEvent) => void): Promise<void> {
  const closed = new AbortController();
  const onClose = (): void => closed.abort();
  control.once('close', onClose).once('end', onClose);
  let known: string | undefined;
  let ports: string | undefined;
  while (!closed.signal.aborted) {
    const sockets = await readTcpSockets();
    // Whose sockets they are is looked up only if there are others, which costs more.
    const listening = JSON.stringify(
      sockets
        .filter(({ state }) => state === 'listening')
        .map(({ inode }) => inode)
        .toSorted((one, other) => one - other),
    );
    if (listening !== known) {
      known = listening;
      const found = describePorts(listenersOf(sockets, processes()));
      if (JSON.stringify(found) !== ports) send({ type: 'ports', ports: found });
      ports = JSON.stringify(found);
    }
    await sleep(WATCH_MS, undefined, { signal: closed.signal, ref: false }).catch(() => {});
  }
}

/**
 * Connects to a port on which the job listens. Since a program of somebody else can take the port at any moment, no byte is passed on
 * before a process of the job has accepted the connection.
 */
async function connectTo(control: Duplex, port: number, processes: ProcessesOfJob): Promise<Socket> {
  const listeners = listenersOn(port, await readTcpSockets(), processes());
  let failure: unknown;
  for (const address of new Set(listeners.map(loopbackOf))) {
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true });
    const onClose = (): void => void socket.destroy();
    control.once('close', onClose);
    try {
      await once(socket, 'connect');
      socket.on('error', () => {}); // its close follows
      await untilAccepted(socket, { listeners, processes });
      return socket;
    } catch (error) {
      failure = error;
      socket.destroy();
      control.off('close', onClose);
    }
  }
  throw failure instanceof AppError
    ? failure
    : new AppError('missing', `Port ${port} of the job accepts no connections.`);
}

/** Waits until a process of the job has accepted a connection. @throws AppError `refused` if another one has. */
async function untilAccepted(
  socket: Socket,
  { listeners, processes }: { readonly listeners: readonly Listener[]; readonly processes: ProcessesOfJob },
): Promise<void> {
  const { localAddress = '', localPort = 0, remoteAddress = '', remotePort: port = 0 } = socket;
  const ends = { local: { address: localAddress, port: localPort }, remote: { address: remoteAddress, port } };
  for (let delayMs = 1; !socket.destroyed; delayMs = Math.min(2 * delayMs, LONGEST_ACCEPT_POLL_MS)) {
    const sockets = await readTcpSockets();
    const accepted = otherEndOf(sockets, ends);
    if (accepted !== undefined && accepted.inode !== 0) {
      const inodes = new Set([accepted.inode]);
      const ofListeners = listeners.map(({ pid }) => pid);
      if (ownersOf(inodes, ofListeners).size > 0 || ownersOf(inodes, processes()).size > 0) return;
      throw notOwn(port);
    }
    // It was accepted and closed already. Then all that listens there must have been the job's, and still be.
    if (accepted?.state !== 'open') {
      const others = sockets.filter((each) => each.state === 'listening' && each.port === port);
      if (others.every(({ inode }) => listeners.some((listener) => listener.inode === inode))) return;
      throw notOwn(port);
    }
    await sleep(delayMs);
  }
  throw new AppError('missing', `Port ${port} of the job was closed.`);
}

/** @throws AppError `missing` if nothing of the job listens there. */
function listenersOn(port: number, sockets: readonly TcpSocket[], processes: Iterable<number>): readonly Listener[] {
  const found = listenersOf(
    sockets.filter((socket) => socket.port === port),
    processes,
  );
  if (found.length > 0) return found;
  const isTaken = sockets.some((socket) => socket.port === port && socket.state === 'listening');
  if (isTaken) throw notOwn(port);
  throw new AppError('missing', `No process of the job listens on port ${port} of its own machine.`);
}

function notOwn(port: number): AppError {
  return new AppError(
    'refused',
    `Port ${port} belongs to another program on the machine of the job, and not to the job.`,
  );
}
