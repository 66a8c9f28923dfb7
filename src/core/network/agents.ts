import { type AgentOptions, type ClientRequest, Agent as HttpAgent, request, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as connectSecurely, TLSSocket } from 'node:tls';
import { callbackify } from 'node:util';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Proxy } from './proxy.ts';
import { systemCode } from '../errors.ts';
import { ProxyError, proxyRefused, proxyUnreachable } from './proxyError.ts';
import { isUnknownAuthority, systemTrust } from './trust.ts';

declare module 'http' {
  // Node.js calls this for every request. It only documents `createConnection`, which does not get the request.
  interface Agent {
    addRequest(request: ClientRequest, options: RequestOptions): void;
  }
}

type Callback = (error: Error | null, socket: Duplex) => void;
interface Wanted extends RequestOptions {
  [WANTED_BY]?: ClientRequest;
}

const WANTED_BY = Symbol('request');
/** Like Node's global agents, but without the proxy that `NODE_USE_ENV_PROXY` adds. */
const POOL: AgentOptions = { keepAlive: true, scheduling: 'lifo', timeout: 5_000 };

/** Connects directly, without TLS. */
export function directAgent(): HttpAgent {
  return new HttpAgent(POOL);
}

/** Connects over TLS, through a proxy if there is one, and trusts the system's certificates in addition to Node's. */
export class SecureAgent extends HttpsAgent {
  readonly #proxy: Proxy | undefined;
  readonly #signal: AbortSignal | undefined;

  /** @param signal aborts connections that are being established. */
  constructor(proxy: Proxy | undefined, signal?: AbortSignal) {
    super(POOL);
    this.#proxy = proxy;
    this.#signal = signal;
  }

  override addRequest(request: ClientRequest, options: RequestOptions): void {
    super.addRequest(request, { ...options, [WANTED_BY]: request } as RequestOptions);
  }

  override createConnection(options: Wanted, callback?: Callback): undefined {
    const cancellation = whileWanted(options[WANTED_BY], this.#signal);
    const connecting = trustingSystem(async (trust) => {
      const socket = this.#proxy && (await openProxyTunnel(this.#proxy, targetOf(options), cancellation.signal));
      const tlsOptions = { ...options, path: null, socket, secureContext: trust };
      const tls = super.createConnection(tlsOptions);
      if (!(tls instanceof TLSSocket))
        throw new TypeError('Node.js returned another socket than that of a TLS connection.');
      return connected(tls, 'secureConnect', cancellation.signal);
    });
    hand(connecting, cancellation, callback);
  }
}

/** Sends unencrypted requests through a proxy, which gets their complete URL (RFC 9112, section 3.2.2). */
export class ForwardAgent extends HttpAgent {
  readonly #proxy: Proxy;
  readonly #signal: AbortSignal | undefined;

  /** @param signal aborts connections that are being established. */
  constructor(proxy: Proxy, signal?: AbortSignal) {
    super(POOL);
    this.#proxy = proxy;
    this.#signal = signal;
  }

  override addRequest(request: ClientRequest, options: RequestOptions): void {
    const { authorization } = this.#proxy;
    request.path = `http://${targetOf(options).replace(/:80$/, '')}${request.path}`;
    if (authorization !== undefined) request.setHeader('proxy-authorization', authorization);
    super.addRequest(request, { ...options, [WANTED_BY]: request } as RequestOptions);
  }

  override createConnection(options: Wanted, callback?: Callback): undefined {
    const cancellation = whileWanted(options[WANTED_BY], this.#signal);
    hand(connectToProxy(this.#proxy, targetOf(options), cancellation.signal), cancellation, callback);
  }
}

function targetOf({ host, port }: RequestOptions): string {
  return `${host?.includes(':') === true ? `[${host}]` : host}:${port}`;
}

function hand(connecting: Promise<Duplex>, cancellation: Disposable, callback: Callback = () => {}): void {
  callbackify(() => connecting.finally(() => cancellation[Symbol.dispose]()))(callback);
}

/** A signal that aborts with the request. Node.js does not inform an agent when a request without a socket is aborted. */
function whileWanted(
  request: ClientRequest | undefined,
  signal: AbortSignal | undefined,
): Disposable & { readonly signal: AbortSignal } {
  const abandonment = new AbortController();
  const onGone = (): void => abandonment.abort();
  request?.once('abort', onGone).once('close', onGone);
  return {
    signal: signal === undefined ? abandonment.signal : AbortSignal.any([abandonment.signal, signal]),
    [Symbol.dispose]: () => void request?.off('abort', onGone).off('close', onGone),
  };
}

/**
 * Connects to a proxy, for requests to `target`.
 *
 * @throws ProxyError if that fails; the system's own error if the proxy's certificate is not trusted.
 */
export async function connectToProxy(proxy: Proxy, target: string, signal: AbortSignal): Promise<Socket> {
  const { host, port, isSecure } = proxy;
  try {
    if (!isSecure) return await connected(connect({ host, port }), 'connect', signal);
    const shakeHands = (trust: ReturnType<typeof systemTrust>): Promise<Socket> => {
      const servername = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
      return connected(connectSecurely({ host, port, ...servername, secureContext: trust }), 'secureConnect', signal);
    };
    return await trustingSystem(shakeHands);
  } catch (error) {
    signal.throwIfAborted();
    throw isUnknownAuthority(error) ? error : proxyUnreachable(proxy, target, error);
  }
}

/**
 * Connects through a proxy to `target` (`host:port`) with the method CONNECT (RFC 9110, section 9.3.6).
 *
 * @throws ProxyError if the proxy cannot be reached or refuses.
 */
export async function openProxyTunnel(proxy: Proxy, target: string, signal: AbortSignal): Promise<Socket> {
  const toProxy = await connectToProxy(proxy, target, signal);
  const headers = {
    host: target,
    'user-agent': 'farwharf',
    ...(proxy.authorization !== undefined && { 'proxy-authorization': proxy.authorization }),
  };
  const connectRequest = request({ method: 'CONNECT', path: target, headers, createConnection: () => toProxy, signal });
  try {
    connectRequest.end();
    const { statusCode, tunnel } = await responseTo(connectRequest);
    if (statusCode >= 200 && statusCode < 300) return tunnel;
    throw proxyRefused(proxy, target, statusCode);
  } catch (error) {
    toProxy.destroy();
    signal.throwIfAborted();
    throw error instanceof ProxyError ? error : proxyUnreachable(proxy, target, error);
  }
}

function responseTo(connectRequest: ClientRequest): Promise<{ readonly statusCode: number; readonly tunnel: Socket }> {
  return new Promise((resolve, reject) => {
    connectRequest.once('connect', ({ statusCode = 0 }, tunnel) => resolve({ statusCode, tunnel }));
    connectRequest.once('error', reject);
  });
}

/** Connects with Node's certificates, and again with the system's if those were not enough. */
async function trustingSystem<T>(connectWith: (trust: ReturnType<typeof systemTrust>) => Promise<T>): Promise<T> {
  try {
    return await connectWith(undefined);
  } catch (error) {
    const trust = isUnknownAuthority(error) ? systemTrust() : undefined;
    if (trust === undefined) throw error;
    return connectWith(trust);
  }
}

/** Returns the socket once it emits `event`. Otherwise destroys it and throws an error whose `syscall` shows that nothing was sent. */
export async function connected<S extends Socket>(socket: S, event: string, signal: AbortSignal): Promise<S> {
  try {
    await once(socket, event, { signal });
    return socket;
  } catch (error) {
    socket.on('error', () => {}).destroy();
    // OpenSSL's errors are the same during the handshake and later, when a request may already have had an effect.
    if (systemCode(error)?.startsWith('ERR_SSL_') === true) Object.assign(Object(error), { syscall: 'connect' });
    throw error;
  }
}
