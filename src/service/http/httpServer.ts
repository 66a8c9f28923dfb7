import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { AppError, systemCode } from '../../core/errors.ts';
import { ensurePrivateFolder } from '../../core/files/ownFiles.ts';
import { openSocketAddress } from '../../core/files/socketAddress.ts';
import type { Logger } from '../../core/log.ts';
import { readCertificate, ServerCertificate } from './certificate.ts';
import type { TlsSettings } from '../config/configSections.ts';
import { loopbackHosts } from './access/auth.ts';
import type { ConnectionLimit } from './access/connectionLimit.ts';

const CLOSE_WAIT_MS = 2_000;
/** Longer than reverse proxies keep an idle connection (nginx: 60 s), so that none sends a request on one that is just being closed here. */
const IDLE_CONNECTION_MS = 75_000;
/** The base of requests to a service that listens on a socket. */
const SOCKET_URL = 'http://localhost';

export interface HttpServerOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** A Unix socket to listen on in place of the address and port; only this user can connect to it. */
  readonly socket: string | undefined;
  /** The certificate for TLS; undefined for plain HTTP. */
  readonly tls: TlsSettings | undefined;
  readonly log: Logger;
  readonly connections: ConnectionLimit;
}

type Fetch = (request: Request, env: HttpBindings) => Response | Promise<Response>;

/** The HTTP server of the service. */
export class HttpServer {
  readonly #server: Server;
  readonly #options: HttpServerOptions;
  readonly #stop = new AbortController();
  readonly certificate: ServerCertificate | undefined;
  readonly #hostName: string;
  #port: number | undefined;

  /** @throws AppError of `readCertificate`. */
  constructor(fetch: Fetch, options: HttpServerOptions) {
    this.#options = options;
    const { tls, log, connections } = options;
    // Uploads may take hours, and their reader ends stalled ones. Only the headers must arrive soon.
    const timeouts = {
      requestTimeout: 0,
      headersTimeout: 30_000,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      // Other upgrades, which some clients offer with each request, are declined. Node.js before 22.21 does not ask.
      shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only HTTP/2 has others
    const answer = getRequestListener((request, env) => fetch(request, env as HttpBindings), {
      overrideGlobalObjects: false,
    });
    const onRequest: RequestListener = (incoming, outgoing) => void answer(incoming, outgoing);
    if (tls === undefined) {
      this.#server = createServer(timeouts);
      connections.watch(this.#server, onRequest);
      this.#server.on('upgrade', answerUpgrade);
      this.#hostName = reachableHost(options.host);
      return;
    }
    const first = readCertificate(tls);
    const server = createSecureServer({ ...timeouts, ...first.context });
    this.#server = server;
    connections.watch(server, onRequest);
    server.on('upgrade', answerUpgrade);
    this.#hostName = first.name ?? reachableHost(options.host);
    this.certificate = new ServerCertificate(tls, { server, first, log });
    void this.certificate.follow(this.#stop.signal);
  }

  /** The port, once it listens. */
  get port(): number {
    if (this.#port === undefined) throw new Error('The server does not listen yet.');
    return this.#port;
  }

  get url(): string {
    if (this.#options.socket !== undefined) return SOCKET_URL;
    return `${this.#options.tls === undefined ? 'http' : 'https'}://${this.#hostName}:${this.port}`;
  }

  /** The `Host` headers of requests from this machine. */
  get hosts(): readonly string[] {
    if (this.#options.socket !== undefined) return [new URL(SOCKET_URL).host];
    return [...loopbackHosts(this.port), `${this.#hostName}:${this.port}`];
  }

  /** @throws AppError `conflict` if the port is in use. */
  async listen(): Promise<void> {
    const { host, port, socket } = this.#options;
    if (socket !== undefined) return this.#listenOn(socket);
    this.#server.listen(port, host);
    try {
      await once(this.#server, 'listening');
    } catch (cause) {
      if (systemCode(cause) !== 'EADDRINUSE') throw cause;
      throw new AppError(
        'conflict',
        `Port ${port} is in use. Choose another one with --port, or 0 for any free port.`,
        { cause },
      );
    }
    const address = this.#server.address();
    // Stored, because requests that are open while the server closes need it too.
    if (address !== null && typeof address === 'object') this.#port = address.port;
  }

  /** The caller is the only service of its data folder, so that an existing socket is that of a killed one. */
  async #listenOn(socket: string): Promise<void> {
    ensurePrivateFolder(dirname(socket));
    rmSync(socket, { force: true });
    using address = openSocketAddress(socket);
    this.#server.listen(address.path);
    await once(this.#server, 'listening');
    chmodSync(socket, 0o600);
  }

  /** Stops accepting connections, waits up to two seconds for open responses, and closes the rest. */
  async close(): Promise<void> {
    this.#stop.abort();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await Promise.race([closed, sleep(CLOSE_WAIT_MS, undefined, { ref: false })]);
    this.#server.closeAllConnections();
  }
}

/**
 * Lets the routes respond to a request for another protocol, as to every request. A route that accepts it takes the socket over.
 *
 * @param head what the client has sent already.
 */
function answerUpgrade(this: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  socket.on('error', () => socket.destroy());
  if (head.length > 0) socket.unshift(head);
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.once('finish', () => socket.end());
  response.assignSocket(socket);
  this.emit('request', request, response);
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
