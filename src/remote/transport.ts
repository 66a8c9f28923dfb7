import { globalAgent as httpAgent } from 'node:http';
import { globalAgent as httpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { AppError } from '../core/errors.ts';
import { type Answer, type Call, Exchange } from './exchange.ts';

/**
 * Opens exchanges with one service, and closes what they leave behind.
 *
 * It has no agent of its own: VS Code puts its proxy and certificates only into requests that bring none.
 */
export class Transport {
  readonly #host: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof fetch | undefined;
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
  async open(call: Call): Promise<Answer> {
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
    const idle = new Set([httpAgent, httpsAgent].flatMap(({ freeSockets }) => Object.values(freeSockets).flat()));
    for (const socket of this.#sockets) if (idle.has(socket)) socket.destroy();
  }

  #exchange(call: Call): Exchange {
    call.signal?.throwIfAborted();
    if (this.#isClosed) throw closedError();
    const exchange = new Exchange(this.#host, call, () => this.#running.delete(exchange));
    this.#running.add(exchange);
    return exchange;
  }

  #start(exchange: Exchange, call: Call): Promise<Answer> {
    return exchange.start({ ...this.#headers, ...call.headers }, this.#fetch, (socket) => {
      if (this.#sockets.has(socket)) return;
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }
}

function closedError(): AppError {
  return new AppError('bad-input', 'This client was closed. Make a new RemoteClient to go on.');
}
