import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import type { RequestInit as NodeFetchInit, Response as NodeFetchResponse } from 'node-fetch';
import type { ClientRequest } from 'node:http';
import { proxyTimedOut } from './proxyError.ts';
import { Routes } from './routes.ts';
import { send } from './send.ts';

// As Node's own fetch has it.
const CONNECT_TIMEOUT_MS = 10_000;
const NO_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * A `fetch` that goes through the proxy which the environment or VS Code names, never to one for this machine, and trusts what the
 * system trusts. The global one does so only where Node was told to, and then asks the proxy for addresses of this machine too.
 *
 * It takes addresses, not `Request` objects, and rejects with the system's own error, or a ProxyError.
 *
 * @param connectMs how long a connection may take to be made.
 */
export function createNetworkFetch({ connectMs = CONNECT_TIMEOUT_MS } = {}): typeof fetch {
  const routes = new Routes();
  return async (input, init = {}) => {
    if (input instanceof Request) throw new TypeError('This fetch takes an address, not a Request.');
    const url = new URL(input);
    const late = new AbortController();
    const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
    const { request, proxy, response } = send(routes, url, { ...init, signal } as NodeFetchInit);
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

/** The same as the global class has it, for libraries that read its body as a web stream. */
function webResponse({ body, status, statusText, headers: received }: NodeFetchResponse): Response {
  const headers = new Headers([...received]);
  // The body was decoded, and has another length.
  if (headers.has('content-encoding')) for (const name of ['content-encoding', 'content-length']) headers.delete(name);
  const hasBody = body instanceof Readable && !NO_BODY.has(status);
  // `Readable.toWeb` would make an abort of a connection that breaks off.
  const stream = hasBody ? ReadableStream.from<Uint8Array>(body) : null;
  return new Response(stream, { status, statusText, headers });
}
