import type { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../core/errors.ts';
import { Routes } from '../../core/network/routes.ts';
import { type HttpResponse, type Call, Exchange } from './exchange.ts';

/** What a client does while a service keeps a request waiting. */
export interface SlowResponseWatch {
  /** Milliseconds from a request to the beginning of its response. */
  readonly afterMs: number;
  /** Called once for each request that waits longer. */
  onSlow(): void;
  /** Called at each response, slow or not. */
  onResponse(): void;
}

/** Sends requests to one service, and closes its connections. */
export class Transport {
  readonly #host: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof fetch | undefined;
  readonly #slow: SlowResponseWatch | undefined;
  readonly #routes: Routes;
  readonly #running = new Set<Exchange>();
  readonly #sockets = new Set<Socket>();
  #isClosed = false;

  /** @param options `fetch` or `agent` replaces our own connections; `slowResponse` hears of requests that wait. */
  constructor(
    host: string,
    headers: Readonly<Record<string, string>>,
    options: {
      readonly fetch?: typeof fetch | undefined;
      readonly agent?: Agent | undefined;
      readonly slowResponse?: SlowResponseWatch | undefined;
    },
  ) {
    this.#host = host;
    this.#headers = headers;
    this.#fetch = options.fetch;
    this.#slow = options.slowResponse;
    this.#routes = new Routes(options);
  }

  /**
   * Sends a request and waits for the headers of its response.
   *
   * @throws NetworkError on a timeout, the signal's reason on abort, the system's own error on any other failure.
   */
  async open(call: Call): Promise<HttpResponse> {
    const first = this.#exchange(call);
    try {
      return await this.#start(first, call);
    } catch (error) {
      // Sent once more on a new connection, as browsers do, but never a POST, which may have had an effect.
      if (!first.isStale || call.method === 'POST') throw error;
      return this.#start(this.#exchange(call), call);
    }
  }

  /** What a connection that is no exchange needs: where to, by which agent (VS Code's own if undefined), and the client's headers. */
  connection(path: string): {
    readonly url: URL;
    readonly agent: Agent | undefined;
    readonly headers: Readonly<Record<string, string>>;
  } {
    if (this.#isClosed) throw closedError();
    if (this.#fetch !== undefined) {
      throw new AppError('bad-input', 'A client with its own fetch cannot connect to jobs. Create one without it.');
    }
    const url = new URL(`${this.#host}${path}`);
    return { url, agent: this.#routes.to(url).agent, headers: this.#headers };
  }

  /** Aborts running requests and closes the idle connections that this client used. Later calls of `open` fail. */
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
      // No listeners, because clients share the sockets of a global agent, and Node warns of a leak above ten listeners.
      for (const openSocket of this.#sockets) if (openSocket.destroyed) this.#sockets.delete(openSocket);
      this.#sockets.add(socket);
    };
    const by = this.#fetch ?? { routes: this.#routes, onSocket };
    const response = exchange.start({ ...this.#headers, ...call.headers }, by);
    return this.#slow === undefined || call.body !== undefined ? response : reportSlow(this.#slow, response);
  }
}

function closedError(): AppError {
  return new AppError('bad-input', 'This client is closed. Create a new RemoteClient.');
}

/** Returns the response, and reports if the service is slow. @throws what `response` rejects with. */
async function reportSlow<T>(watch: SlowResponseWatch, response: Promise<T>): Promise<T> {
  const timer = setTimeout(() => watch.onSlow(), watch.afterMs);
  try {
    const received = await response;
    watch.onResponse();
    return received;
  } finally {
    clearTimeout(timer);
  }
}
