import type { Socket } from 'node:net';
import { AppError } from '../../core/errors.ts';
import { Routes } from '../../core/network/routes.ts';
import { type HttpResponse, type Call, Exchange } from './exchange.ts';

/** Opens exchanges with one service, and closes what they leave behind. */
export class Transport {
  readonly #host: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof fetch | undefined;
  readonly #routes = new Routes();
  readonly #running = new Set<Exchange>();
  readonly #sockets = new Set<Socket>();
  #isClosed = false;

  constructor(host: string, headers: Readonly<Record<string, string>>, customFetch: typeof fetch | undefined) {
    this.#host = host;
    this.#headers = headers;
    this.#fetch = customFetch;
  }

  /**
   * Sends a request and waits for the head of its answer.
   *
   * @throws NetworkError on a timeout, the signal's reason on abort, the system's own error on any other failure.
   */
  async open(call: Call): Promise<HttpResponse> {
    const first = this.#exchange(call);
    try {
      return await this.#start(first, call);
    } catch (error) {
      // Asked once more, on a new connection, as browsers do. A POST may have been acted upon: never.
      if (!first.isStale || call.method === 'POST') throw error;
      return this.#start(this.#exchange(call), call);
    }
  }

  /** Ends what runs, closes the idle connections that this client has used, and lets `open` fail from now on. */
  close(): void {
    this.#isClosed = true;
    for (const exchange of this.#running) exchange.fail(closedError());
    this.#routes[Symbol.dispose]();
    // Inside VS Code the connections are those of Node's global agents.
    const idle = this.#routes.idleSockets();
    for (const socket of this.#sockets) if (idle.has(socket)) socket.destroy();
  }

  #exchange(call: Call): Exchange {
    call.signal?.throwIfAborted();
    if (this.#isClosed) throw closedError();
    const exchange = new Exchange(this.#host, call, () => this.#running.delete(exchange));
    this.#running.add(exchange);
    return exchange;
  }

  #start(exchange: Exchange, call: Call): Promise<HttpResponse> {
    const onSocket = (socket: Socket): void => {
      // Without listeners: many clients may share a socket of a global agent, and Node takes more than ten for a leak.
      for (const known of this.#sockets) if (known.destroyed) this.#sockets.delete(known);
      this.#sockets.add(socket);
    };
    const line = this.#fetch ?? { routes: this.#routes, onSocket };
    return exchange.start({ ...this.#headers, ...call.headers }, line);
  }
}

function closedError(): AppError {
  return new AppError('bad-input', 'This client was closed. Make a new RemoteClient to go on.');
}
