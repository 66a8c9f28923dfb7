import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Passes on what either stream sends, as fast as the other one takes it. If one breaks, so does the other. */
export function joinStreams(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const)
    pipeline(from, to).catch(() => {});
}

/** The same for a TCP socket: a stream that breaks resets the connection, which its other end could take for its end otherwise. */
export function joinSocket(socket: Socket, stream: Duplex): void {
  stream.once('error', () => socket.resetAndDestroy());
  joinStreams(socket, stream);
}
