import { Agent as HttpAgent, type AgentOptions, type ClientRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { callbackify } from 'node:util';
import type { Proxy } from './proxy.ts';
import { connected, connectToProxy, openProxyTunnel, trustingSystem } from './proxyTunnel.ts';

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
    const wanted = whileWanted(options[WANTED_BY], this.#signal);
    const connecting = trustingSystem(async (trust) => {
      const socket = this.#proxy && (await openProxyTunnel(this.#proxy, targetOf(options), wanted.signal));
      const tlsOptions = { ...options, path: null, socket, secureContext: trust };
      const tls = super.createConnection(tlsOptions);
      if (!(tls instanceof TLSSocket))
        throw new TypeError('Node.js returned another socket than that of a TLS connection.');
      return connected(tls, 'secureConnect', wanted.signal);
    });
    hand(connecting, wanted, callback);
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
    const wanted = whileWanted(options[WANTED_BY], this.#signal);
    hand(connectToProxy(this.#proxy, targetOf(options), wanted.signal), wanted, callback);
  }
}

function targetOf({ host, port }: RequestOptions): string {
  return `${host?.includes(':') === true ? `[${host}]` : host}:${port}`;
}

function hand(connecting: Promise<Duplex>, wanted: Disposable, callback: Callback = () => {}): void {
  callbackify(() => connecting.finally(() => wanted[Symbol.dispose]()))(callback);
}

/** A signal that aborts with the request. Node.js does not inform an agent when a request without a socket is aborted. */
function whileWanted(
  request: ClientRequest | undefined,
  signal: AbortSignal | undefined,
): Disposable & { readonly signal: AbortSignal } {
  const gone = new AbortController();
  const onGone = (): void => gone.abort();
  request?.once('abort', onGone).once('close', onGone);
  return {
    signal: signal === undefined ? gone.signal : AbortSignal.any([gone.signal, signal]),
    [Symbol.dispose]: () => void request?.off('abort', onGone).off('close', onGone),
  };
}
