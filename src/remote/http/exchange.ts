import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { RequestInit as NodeFetchInit } from 'node-fetch';
import { systemCode } from '../../core/errors.ts';
import { nameHost } from '../../core/network/namedHost.ts';
import type { Proxy } from '../../core/network/proxy.ts';
import { ProxyError, throughProxy } from '../../core/network/proxyError.ts';
import type { Routes } from '../../core/network/routes.ts';
import { sendRequest } from '../../core/network/sendRequest.ts';
import { NetworkError } from './remoteErrors.ts';
import { ReadTimer, type TimeLimits, watchRequest, watchTotal } from './readTimeout.ts';

export interface Call extends TimeLimits {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readable;
  /** Whether a compressed body is decoded; true if absent. False for archives, which are saved as received. */
  readonly decompress?: boolean;
  /** Whether a successful response has no total time limit, as for event streams and files. */
  readonly isOpenEnded?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A response whose headers have arrived. Disposing it closes the connection unless the body was read to its end. */
export interface HttpResponse extends Disposable {
  readonly status: number;
  readonly statusText: string;
  header(name: string): string | null;
  /** @throws NetworkError on a timeout, the signal's reason on abort, otherwise the system's own error. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The common part of node-fetch's and Node's own responses. */
interface FetchResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** How our own requests reach the network. `onSocket` is called with each socket that is used. */
interface Connector {
  readonly routes: Routes;
  readonly onSocket: (socket: Socket) => void;
}

type Done = (error?: Error | null) => void;

/** One request and its response, with time limits, cleanup, and the original cause of a failure. */
export class Exchange {
  readonly #host: string;
  readonly #call: Call;
  readonly #onEnd: () => void;
  readonly #abort = new AbortController();
  readonly #onAbort = () => this.fail(this.#call.signal?.reason);
  #endWatch: (() => void) | undefined;
  #endTotal: (() => void) | undefined;
  #endReading: (() => void) | undefined;
  #request: ClientRequest | undefined;
  #proxy: Proxy | undefined;
  #systemError: Error | undefined;
  #failure: { readonly reason: unknown } | undefined;
  /** When the reader began to wait for the next bytes; infinite while it processes the last ones. */
  #waitingSince = performance.now();
  #hasResponse = false;
  #isBodyRead = false;

  constructor(host: string, call: Call, onEnd: () => void) {
    this.#host = host;
    this.#call = call;
    this.#onEnd = onEnd;
  }

  /** Whether the service closed an idle connection just as it was reused, so that there was no response. */
  get isStale(): boolean {
    return (
      this.#request?.reusedSocket === true &&
      !this.#hasResponse &&
      this.#failure === undefined &&
      systemCode(this.#systemError) === 'ECONNRESET'
    );
  }

  /** Sends the request with the caller's `fetch` or our own connections. */
  async start(headers: Readonly<Record<string, string>>, by: typeof fetch | Connector): Promise<HttpResponse> {
    const { body, signal } = this.#call;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (body === undefined) this.#watchTotal();
    else body.once('end', this.#watchTotal);
    try {
      return typeof by === 'function' ? await this.#sendBy(by, headers) : await this.#sendOn(by, headers);
    } catch (error) {
      const reason = this.#reasonFor(error);
      this.end();
      throw reason;
    }
  }

  /** Aborts the exchange. Everything that waits for it fails with `reason`. */
  fail(reason: unknown): void {
    this.#failure ??= { reason };
    this.#abort.abort();
  }

  /** Releases everything, and closes the connection unless the body was read to its end. */
  end(): void {
    this.#call.signal?.removeEventListener('abort', this.#onAbort);
    this.#call.body?.off('end', this.#watchTotal);
    this.#endWatch?.();
    this.#endTotal?.();
    this.#endReading?.();
    if (!this.#isBodyRead) this.#abort.abort();
    this.#onEnd();
  }

  async #sendOn({ routes, onSocket }: Connector, headers: Readonly<Record<string, string>>): Promise<HttpResponse> {
    const { method, path, body, decompress = true } = this.#call;
    const init: NodeFetchInit = {
      method,
      headers,
      redirect: 'manual',
      signal: this.#abort.signal,
      compress: decompress,
    };
    if (body !== undefined) init.body = body;
    const { request, proxy, response: pending } = sendRequest(routes, new URL(`${this.#host}${path}`), init);
    this.#request = request;
    this.#proxy = proxy;
    if (request !== undefined) {
      request.once('error', (error) => (this.#systemError = error)).once('socket', onSocket);
      if (body !== undefined) request.once('socket', (socket) => (this.#endReading = readBeforeWriteError(socket)));
      this.#watchClose(request);
      const waitedMs = () => performance.now() - this.#waitingSince;
      this.#endWatch = watchRequest(request, this.#call, waitedMs, this.#onTimeout);
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its body yields bytes unless it is configured otherwise
    const response = (await pending) as FetchResponse;
    return this.#response(response, response.body ?? Readable.from([]));
  }

  async #sendBy(customFetch: typeof fetch, headers: Readonly<Record<string, string>>): Promise<HttpResponse> {
    const { method, path, body, connectMs, readMs } = this.#call;
    const timer = new ReadTimer(readMs, this.#onTimeout);
    this.#endWatch = () => timer.stop();
    const init: RequestInit = { method, headers, redirect: 'manual', signal: this.#abort.signal };
    if (body !== undefined) Object.assign(init, { body: Readable.from(touching(body, timer)), duplex: 'half' });
    timer.touch(connectMs);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as in the global fetch
    const response = (await customFetch(`${this.#host}${path}`, init)) as FetchResponse;
    return this.#response(response, timed(response.body ?? Readable.from([]), timer));
  }

  #response(response: FetchResponse, body: AsyncIterable<Uint8Array>): HttpResponse {
    this.#hasResponse = true;
    if (this.#call.isOpenEnded === true && response.status < 400) this.#endTotal?.();
    else this.#watchTotal();
    return {
      status: response.status,
      statusText: response.statusText,
      header: (name) => response.headers.get(name),
      body: this.#read(body),
      [Symbol.dispose]: () => this.end(),
    };
  }

  async *#read(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    try {
      this.#waitingSince = performance.now();
      for await (const chunk of body) {
        this.#waitingSince = Number.POSITIVE_INFINITY;
        yield chunk;
        this.#waitingSince = performance.now();
      }
      this.#isBodyRead = true;
    } catch (error) {
      throw this.#reasonFor(error);
    } finally {
      this.end();
    }
  }

  /** Fails if the connection ends without a response and without an error, as after a switch to another protocol (status 101). */
  #watchClose(request: ClientRequest): void {
    const onClose = (): void => {
      if (this.#systemError === undefined)
        this.fail(
          Object.assign(new Error('the service closed the connection without a response'), { code: 'ECONNRESET' }),
        );
    };
    request.once('close', onClose).once('response', () => request.off('close', onClose));
  }

  /** Starts the total time limit, once: for an upload, after it was sent or when the service responds earlier. */
  readonly #watchTotal = (): void => {
    this.#endTotal ??= watchTotal(this.#call.totalMs, this.#onTimeout);
  };

  readonly #onTimeout = (cause: Error): void => {
    const isConnecting = 'syscall' in cause;
    if (isConnecting && this.#proxy !== undefined) cause.message += throughProxy(this.#proxy, new URL(this.#host).host);
    this.fail(new NetworkError(this.#host, cause));
  };

  /** The reason for our own abort, else the system's error, unwrapped. */
  #reasonFor(error: unknown): unknown {
    if (this.#failure !== undefined) return this.#failure.reason;
    const original = error instanceof ProxyError ? error : (this.#systemError ?? unwrapped(error));
    if (original instanceof Error && /^UND_ERR_\w+_TIMEOUT$/.test(systemCode(original) ?? ''))
      return new NetworkError(this.#host, original);
    // All addresses of the host failed. The AggregateError has a code, but only its parts have messages.
    const hasMessages = original instanceof AggregateError && original.message === '';
    const reason: unknown = hasMessages ? (original.errors.at(-1) ?? original) : original;
    if (reason instanceof Error && systemCode(reason) !== undefined) nameHost(reason, new URL(this.#host).host);
    return reason;
  }
}

/** Restarts the timer with each chunk that is sent. */
async function* touching(body: AsyncIterable<Uint8Array>, timer: ReadTimer): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of body) {
    timer.touch();
    yield chunk;
  }
}

async function* timed(body: AsyncIterable<Uint8Array>, timer: ReadTimer): AsyncGenerator<Uint8Array, void> {
  timer.touch();
  for await (const chunk of body) {
    timer.pause(); // the time that the reader takes is not the service's fault
    yield chunk;
    timer.touch();
  }
}

/** Node's own fetch throws `fetch failed`, with the system's error as the cause. */
function unwrapped(error: unknown): unknown {
  return error instanceof TypeError && systemCode(error.cause) !== undefined ? error.cause : error;
}

/**
 * Delays the error of a failed write until everything that the service sent has been read.
 *
 * A service that refuses a large upload responds and closes the connection while the rest is still being sent. The next write then fails
 * with EPIPE or ECONNRESET, on which Node destroys the socket, with a response that has arrived but was not read yet. After such
 * an error the peer sends nothing more, so the end of the readable side follows at once.
 *
 * @returns a function that ends this, to be called before another request uses the socket.
 */
function readBeforeWriteError(socket: Socket): () => void {
  // The two functions that a Writable calls to write, as every subclass implements them.
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  const afterReading =
    (done: Done): Done =>
    (error) => {
      const code = systemCode(error);
      if (code !== 'EPIPE' && code !== 'ECONNRESET') done(error);
      else if (socket.readableEnded) done(error);
      else socket.once('end', () => done(error));
    };
  const ownHeaders = {
    _write: (chunk: unknown, encoding: BufferEncoding, done: Done) => write(chunk, encoding, afterReading(done)),
    ...(writev && {
      _writev: (chunks: Parameters<typeof writev>[0], done: Done) => writev(chunks, afterReading(done)),
    }),
  };
  Object.assign(socket, ownHeaders);
  return () => {
    for (const name of Object.keys(ownHeaders)) Reflect.deleteProperty(socket, name);
  };
}
