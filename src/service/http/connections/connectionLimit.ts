import { readFileSync } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';

const MOST_CONNECTIONS = 20_000;
/** On one connection, without a complete response. Clients and proxies send one, or a few; each can cost the memory of a response. */
const MOST_REQUESTS = 16;
/** Where the limit is not known: that of macOS, to which Node.js has raised its own. */
const DEFAULT_OPEN_FILES = 10_240;

/**
 * How many connections a server may have: half of the files that the process may have open, since the store, jobs and their logs need the
 * others.
 */
export function mostConnections(): number {
  return Math.min(MOST_CONNECTIONS, Math.floor(openFileLimit() / 2));
}

interface Connection {
  readonly socket: Socket;
  /** Of those without a complete response. */
  requests: number;
}

/**
 * Limits the connections of a server and passes on its requests. Above the limit, the one that has waited longest for its request, or for its next one, is closed. So
 * anyone who opens connections and sends nothing, for which no key is needed, displaces only connections of that kind. If all have requests, a new
 * one is closed.
 */
export function limitConnections(
  server: Server,
  { most, onRequest }: { readonly most: number; readonly onRequest: RequestListener },
): void {
  const connections = new Map<string, Connection>();
  // The one that has waited longest first.
  const waiting = new Set<Connection>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    if (peer === undefined) return; // a Unix socket, to which only this user can connect
    const connection = { socket, requests: 0 };
    if (connections.size >= most) {
      const [oldest = connection] = waiting;
      oldest.socket.destroy();
      waiting.delete(oldest);
      if (oldest === connection) return;
    }
    connections.set(peer, connection);
    waiting.add(connection);
    socket.once('close', () => {
      waiting.delete(connection);
      if (connections.get(peer) === connection) connections.delete(peer);
    });
  });
  server.on('request', (request, response) => {
    // With TLS, a request has a socket of its own, of the same peer.
    const connection = connections.get(peerOf(request.socket) ?? '');
    if (connection === undefined) return onRequest(request, response);
    connection.requests += 1;
    waiting.delete(connection);
    response.once('close', () => {
      connection.requests -= 1;
      if (connection.requests === 0 && !connection.socket.destroyed) waiting.add(connection);
    });
    // Requests that arrived together with the last one are still reported after the connection was closed.
    if (connection.requests > MOST_REQUESTS) connection.socket.destroy();
    if (!connection.socket.destroyed) onRequest(request, response);
  });
}

function peerOf({ remoteAddress, remotePort }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort}`;
}

function openFileLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? DEFAULT_OPEN_FILES : Number(limit);
  } catch {
    return DEFAULT_OPEN_FILES;
  }
}
