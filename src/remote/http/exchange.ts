import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { RequestInit as NodeFetchInit } from 'node-fetch';
import { systemCode } from '../../core/errors.ts';
import type { Proxy } from '../../core/network/proxy.ts';
import { ProxyError, throughProxy } from '../../core/network/proxyError.ts';
import type { Routes } from '../../core/network/routes.ts';
import { send } from '../../core/network/send.ts';
import { NetworkError } from './errors.ts';
import { ReadTimer, type TimeLimits, watchRequest, watchTotal } from './readTimeout.ts';

export interface Call extends TimeLimits {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readable;
  /** Whether a compressed body is decoded. Off for archives, which are kept as they come. */
  readonly decompress?: boolean;
  /** Whether the body takes as long as it takes: of an event stream, or of a file. A refusal is an answer all the same. */
  readonly isOpenEnded?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A response whose head has arrived. Disposing it closes the connection unless the body was read to its end. */
export interface HttpResponse extends Disposable {
  readonly status: number;
  readonly statusText: string;
  header(name: string): string | null;
  /** Throws a NetworkError on silence, the signal's reason on abort, and the system's own error otherwise. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** What node-fetch's and Node's own responses have in common. */
interface FetchResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** The ways that the network takes, and who is told of the sockets that are used. */
interface Line {
  readonly routes: Routes;
  readonly onSocket: (socket: Socket) => void;
}

/** One request and its response: their time limits, their end, and the true reason when they fail. */
export class Exchange {
  readonly #host: string;
  readonly #call: Call;
  readonly #onEnd: () => void;
  readonly #abort = new AbortController();
  readonly #onAbort = () => this.fail(this.#call.signal?.reason);
  #endWatch: (() => void) | undefined;
  #endTotal: (() => void) | undefined;
  #request: ClientRequest | undefined;
  #proxy: Proxy | undefined;
  #systemError: Error | undefined;
  #failure: { readonly reason: unknown } | undefined;
  /** When the reader began to wait for the next bytes; infinite while it is busy with the last. */
  #waitingSince = performance.now();
  #hasAnswer = false;
  #isBodyRead = false;

  constructor(host: string, call: Call, onEnd: () => void) {
    this.#host = host;
    this.#call = call;
    this.#onEnd = onEnd;
  }

  /** Whether the service closed an idle connection just when it was used again, so that nothing was answered. */
  get isStale(): boolean {
    return (
      this.#request?.reusedSocket === true &&
      !this.#hasAnswer &&
      this.#failure === undefined &&
      systemCode(this.#systemError) === 'ECONNRESET'
    );
  }

  /** Sends the request by the caller's `fetch`, or on one of our lines. */
  async start(headers: Readonly<Record<string, string>>, by: typeof fetch | Line): Promise<HttpResponse> {
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

  /** Breaks the exchange off; whoever waits for it gets `reason`. */
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
    if (!this.#isBodyRead) this.#abort.abort();
    this.#onEnd();
  }

  async #sendOn({ routes, onSocket }: Line, headers: Readonly<Record<string, string>>): Promise<HttpResponse> {
    const { method, path, body, decompress = true } = this.#call;
    const init: NodeFetchInit = {
      method,
      headers,
      redirect: 'manual',
      signal: this.#abort.signal,
      compress: decompress,
    };
    if (body !== undefined) init.body = body;
    const { request, proxy, response: pending } = send(routes, new URL(`${this.#host}${path}`), init);
    this.#request = request;
    this.#proxy = proxy;
    if (request !== undefined) {
      request.once('error', (error) => (this.#systemError = error)).once('socket', onSocket);
      const waitedMs = () => performance.now() - this.#waitingSince;
      this.#endWatch = watchRequest(request, this.#call, waitedMs, this.#onTimeout);
    }
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
    const response = (await customFetch(`${this.#host}${path}`, init)) as FetchResponse;
    timer.pause();
    return this.#response(response, timed(response.body ?? Readable.from([]), timer));
  }

  #response(response: FetchResponse, body: AsyncIterable<Uint8Array>): HttpResponse {
    this.#hasAnswer = true;
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

  /** Once: for an upload, when all of it has left or the service answers before that. */
  readonly #watchTotal = (): void => {
    this.#endTotal ??= watchTotal(this.#call.totalMs, this.#onTimeout);
  };

  readonly #onTimeout = (cause: Error): void => {
    const isConnecting = 'syscall' in cause && cause.syscall === 'connect';
    if (isConnecting && this.#proxy !== undefined) cause.message += throughProxy(this.#proxy, new URL(this.#host).host);
    this.fail(new NetworkError(this.#host, cause));
  };

  /** Our own reason for breaking off, else the system's error that a fetch has wrapped. */
  #reasonFor(error: unknown): unknown {
    if (this.#failure !== undefined) return this.#failure.reason;
    const original = error instanceof ProxyError ? error : (this.#systemError ?? unwrapped(error));
    if (/^UND_ERR_\w+_TIMEOUT$/.test(systemCode(original) ?? ''))
      return new NetworkError(this.#host, original as Error);
    // Every address of the host was tried. The collected error has a code, but only its parts have a message.
    if (original instanceof AggregateError && original.message === '') return original.errors.at(-1) ?? original;
    return original;
  }
}

/** Re-arms the timer with each chunk that is taken for sending. */
async function* touching(body: Readable, timer: ReadTimer): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of body) {
    timer.touch();
    yield chunk as Uint8Array;
  }
}

async function* timed(body: AsyncIterable<Uint8Array>, timer: ReadTimer): AsyncGenerator<Uint8Array, void> {
  timer.touch();
  for await (const chunk of body) {
    timer.pause(); // while the reader is busy, the silence is not the service's
    yield chunk;
    timer.touch();
  }
  timer.pause();
}

/** Node's own fetch says `fetch failed`, with the system's error as the cause. */
function unwrapped(error: unknown): unknown {
  return error instanceof TypeError && systemCode(error.cause) !== undefined ? error.cause : error;
}
