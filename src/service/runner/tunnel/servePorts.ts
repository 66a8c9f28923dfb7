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
  type JobSockets,
  type Listener,
  loopbackOf,
  socketCounts,
  type SocketList,
  type TcpSocket,
} from './listeningPorts.ts';

const WATCH_MS = 1_000;
// In case that as many sockets were opened as closed meanwhile.
const LONGEST_UNSEEN_MS = 10_000;
const LONGEST_ACCEPT_POLL_MS = 250;
// A socket may just be on its way from one process of the job to another.
const MOST_LOOKS_FOR_OWNER = 5;

/** Does what a client asks about the ports of a job. Only what processes of the job listen on is shown and reached. */
export async function servePorts(control: Duplex, header: PortHeader, own: JobSockets): Promise<void> {
  const send = (event: PortEvent): void => void control.write(writeLine(event));
  try {
    if (header.type === 'connect') {
      const socket = await connectTo(control, header.port, own);
      send({ type: 'connected' });
      joinSocket(socket, control);
      return;
    }
    control.resume(); // the client only closes it
    if (header.isWatching) await watchPorts(control, own, send);
    else send({ type: 'ports', ports: describePorts(own.listenersAmong(listeningIn(await own.read()))) });
  } catch (error) {
    const code = error instanceof AppError && error.code === 'missing' ? error.code : 'refused';
    send({ type: 'failed', code, message: messageOf(error) });
    control.resume();
  }
  control.end();
}

/** Reports the ports after each change, until the client closes the channel. */
async function watchPorts(control: Duplex, own: JobSockets, send: (event: PortEvent) => void): Promise<void> {
  const closed = new AbortController();
  const onClose = (): void => closed.abort();
  control.once('close', onClose).once('end', onClose);
  let known: string | undefined;
  let ports: string | undefined;
  let counts: string | undefined;
  let readAt = 0;
  for (
    ;
    !closed.signal.aborted;
    await sleep(WATCH_MS, undefined, { signal: closed.signal, ref: false }).catch(() => {})
  ) {
    const now = await socketCounts();
    if (now === counts && performance.now() - readAt < LONGEST_UNSEEN_MS) continue;
    counts = now;
    readAt = performance.now();
    const sockets = listeningIn(await own.read());
    // Whose sockets they are is looked up only if there are others, which costs more.
    const listening = JSON.stringify(sockets.map(({ inode }) => inode).toSorted((one, other) => one - other));
    if (listening === known) continue;
    known = listening;
    const found = describePorts(own.listenersAmong(sockets));
    if (JSON.stringify(found) !== ports) send({ type: 'ports', ports: found });
    ports = JSON.stringify(found);
  }
}

/**
 * Connects to a port on which the job listens. Since a program of somebody else can take the port at any moment, no byte is passed on
 * before a process of the job has accepted the connection.
 */
async function connectTo(control: Duplex, port: number, own: JobSockets): Promise<Socket> {
  // Looking for the listeners again would take longer than all the rest.
  const known = own.knownOn(port);
  if (known.length > 0) {
    const socket = await connectToOneOf(known, { control, port, own, isKnown: true }).catch(() => undefined);
    if (socket !== undefined) return socket;
    own.remember(port, []);
    if (control.destroyed) throw closedMeanwhile(port);
  }
  const listeners = listenersOn(port, await own.read(), own);
  const socket = await connectToOneOf(listeners, { control, port, own, isKnown: false });
  own.remember(port, listeners);
  return socket;
}

interface PortCall {
  readonly control: Duplex;
  readonly port: number;
  readonly own: JobSockets;
  /** Whether the listeners are known from an earlier call, and may be others by now. */
  readonly isKnown: boolean;
}

async function connectToOneOf(listeners: readonly Listener[], call: PortCall): Promise<Socket> {
  const { control, port } = call;
  let failure: unknown;
  for (const address of new Set(listeners.map(loopbackOf))) {
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true });
    const onClose = (): void => void socket.destroy();
    control.once('close', onClose);
    try {
      await once(socket, 'connect');
      socket.on('error', () => {}); // its close follows
      await untilAccepted(socket, listeners, call);
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
  listeners: readonly Listener[],
  { own, isKnown }: PortCall,
): Promise<void> {
  const { localAddress = '', localPort = 0, remoteAddress = '', remotePort: port = 0 } = socket;
  const ends = { local: { address: localAddress, port: localPort }, remote: { address: remoteAddress, port } };
  const ofListeners = listeners.map(({ pid }) => pid);
  const likely = new Set(listeners.map(({ file }) => file));
  let looksForOwner = 0;
  for (let delayMs = 1; !socket.destroyed; delayMs = Math.min(2 * delayMs, LONGEST_ACCEPT_POLL_MS)) {
    let lists = await own.read(likely);
    let accepted = findEnd(lists, ends);
    if (accepted === undefined) {
      lists = await own.read();
      accepted = findEnd(lists, ends);
    }
    if (accepted !== undefined && accepted.end.inode !== 0) {
      if (own.owns(accepted.list, accepted.end.inode, ofListeners)) return;
      looksForOwner += 1;
      if (looksForOwner === MOST_LOOKS_FOR_OWNER) throw notOwn(port);
    } else if (accepted?.end.isOpen !== true) {
      // It was accepted and closed already. Then all that listens there must have been the job's just before, and still be.
      const others = listeningIn(lists).filter((each) => each.port === port);
      const isOwn = others.every(({ inode }) => listeners.some((listener) => listener.inode === inode));
      if (isOwn && !isKnown) return;
      throw notOwn(port);
    }
    await sleep(delayMs);
  }
  throw closedMeanwhile(port);
}

function findEnd(
  lists: readonly SocketList[],
  ends: Parameters<SocketList['otherEndOf']>[0],
): { readonly list: SocketList; readonly end: TcpSocket } | undefined {
  for (const list of lists) {
    const end = list.otherEndOf(ends);
    if (end !== undefined) return { list, end };
  }
  return undefined;
}

function listeningIn(lists: readonly SocketList[]): readonly TcpSocket[] {
  return lists.flatMap(({ listening }) => listening);
}

/** @throws AppError `missing` if nothing of the job listens there. */
function listenersOn(port: number, lists: readonly SocketList[], own: JobSockets): readonly Listener[] {
  const onPort = listeningIn(lists).filter((socket) => socket.port === port);
  const found = own.listenersAmong(onPort);
  if (found.length > 0) return found;
  if (onPort.length > 0) throw notOwn(port);
  throw new AppError('missing', `No process of the job listens on port ${port} of its own machine.`);
}

function closedMeanwhile(port: number): AppError {
  return new AppError('missing', `Port ${port} of the job was closed.`);
}

function notOwn(port: number): AppError {
  return new AppError(
    'refused',
    `Port ${port} belongs to another program on the machine of the job, and not to the job.`,
  );
}
