import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import type { ClientRequest } from 'node:http';
import type { RequestInit as NodeFetchInit, Response as NodeFetchResponse } from 'node-fetch';
import { proxyTimedOut } from './proxyError.ts';
import { Routes } from './routes.ts';
import { sendRequest } from './sendRequest.ts';

// The same as in Node's own fetch.
const CONNECT_TIMEOUT_MS = 10_000;
const NO_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * Creates a `fetch` that uses the proxy of the environment or of VS Code, but never for this machine, and that trusts the system's
 * certificates. The global `fetch` only does so if Node.js is configured for it, and then uses the proxy for this machine too.
 *
 * It accepts URLs, not `Request` objects, and rejects with the system's own error, or a ProxyError.
 *
 * @param connectMs time limit for establishing a connection.
 */
export function createNetworkFetch({ connectMs = CONNECT_TIMEOUT_MS } = {}): typeof fetch {
  const routes = new Routes();
  return async (input, init = {}) => {
    if (input instanceof Request) throw new TypeError('This fetch accepts a URL, not a Request.');
    const url = new URL(input);
    const late = new AbortController();
    const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- two declarations of the same options
    const options = { ...init, signal } as NodeFetchInit;
    const { request, proxy, response } = sendRequest(routes, url, options);
    limitConnecting(request, connectMs, () => late.abort());
    try {
      return webResponse(await response);
    } catch (error) {
      if (!late.signal.aborted) throw error;
      throw proxy === undefined ? connectTimeout(connectMs) : proxyTimedOut(proxy, url.host, connectMs);
    }
  };
}

function limitConnecting(request: ClientRequest | undefined, connectMs: number, onLate: () => void): void {
  if (request === undefined) return;
  const timer = setTimeout(onLate, connectMs);
  const end = (): void => clearTimeout(timer);
  for (const event of ['response', 'abort', 'error', 'close']) request.once(event, end);
  request.once('socket', (socket) => (socket.connecting ? socket.once('connect', end) : end()));
}

function connectTimeout(connectMs: number): Error {
  const error = new Error(`no connection within ${connectMs / 1000} s`);
  return Object.assign(error, { code: 'ETIMEDOUT', syscall: 'connect' });
}

/** The response as the global class, for libraries that read its body as a web stream. */
function webResponse({ body, status, statusText, headers: received }: NodeFetchResponse): Response {
  const headers = new Headers([...received]);
  // The body is already decoded and has another length.
  if (headers.has('content-encoding')) for (const name of ['content-encoding', 'content-length']) headers.delete(name);
  const hasBody = body instanceof Readable && !NO_BODY.has(status);
  // `Readable.toWeb` would report a broken connection as an abort.
  const stream = hasBody ? ReadableStream.from<Uint8Array>(body) : null;
  return new Response(stream, { status, statusText, headers });
}
