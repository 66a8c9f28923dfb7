import { readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
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
function mostConnections(): number {
  return Math.min(MOST_CONNECTIONS, Math.floor(openFileLimit() / 2));
}

interface Connection {
  readonly socket: Socket;
  /** Of those without a complete response. */
  requests: number;
}

/**
 * Limits the connections of a server. Above the limit, the one that has gone longest without an authenticated request is closed. So clients
 * that open connections and send little or nothing, which needs no key, displace only each other. If all connections have authenticated
 * requests, a new one is closed.
 */
export class ConnectionLimit {
  readonly #most: number;
  readonly #connections = new Map<string, Connection>();
  // The one that has waited longest first.
  readonly #waiting = new Set<Connection>();

  constructor(most = mostConnections()) {
    this.#most = most;
  }

  /** Limits the connections of this server, and passes on its requests. */
  watch(server: Server, onRequest: RequestListener): void {
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.on('request', (request, response) => {
      const connection = this.#connectionOf(request.socket);
      if (connection === undefined) return onRequest(request, response);
      connection.requests += 1;
      response.once('close', () => {
        connection.requests -= 1;
        if (connection.requests === 0 && !connection.socket.destroyed) this.#waiting.add(connection);
      });
      // Requests that arrived together with the last one are still reported after the connection was closed.
      if (connection.requests > MOST_REQUESTS) connection.socket.destroy();
      if (!connection.socket.destroyed) onRequest(request, response);
    });
  }

  /** Keeps the connection of a request, which has a valid key, until the response is complete. */
  keep({ socket }: IncomingMessage): void {
    const connection = this.#connectionOf(socket);
    if (connection !== undefined && connection.requests > 0) this.#waiting.delete(connection);
  }

  #add(socket: Socket): void {
    const peer = peerOf(socket);
    if (peer === undefined) return; // a Unix socket, to which only this user can connect
    const connection = { socket, requests: 0 };
    if (this.#connections.size >= this.#most) {
      const [oldest = connection] = this.#waiting;
      oldest.socket.destroy();
      this.#waiting.delete(oldest);
      if (oldest === connection) return;
    }
    this.#connections.set(peer, connection);
    this.#waiting.add(connection);
    socket.once('close', () => {
      this.#waiting.delete(connection);
      if (this.#connections.get(peer) === connection) this.#connections.delete(peer);
    });
  }

  /** With TLS, a request has a socket of its own, of the same peer. */
  #connectionOf(socket: Socket): Connection | undefined {
    return this.#connections.get(peerOf(socket) ?? '');
  }
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
