import http, { type Agent, globalAgent } from 'node:http';
import { globalAgent as secureGlobalAgent } from 'node:https';
import type { Socket } from 'node:net';
import { directAgent, ForwardAgent, SecureAgent } from './agents.ts';
import { isOwnMachine } from './loopback.ts';
import { type Proxy, proxyFor } from './proxy.ts';

export interface Route {
  /** Undefined if VS Code's own agent decides. */
  readonly agent: Agent | undefined;
  readonly proxy: Proxy | undefined;
}

/**
 * Chooses proxies and certificates for all requests, and pools connections.
 *
 * Inside VS Code's extension host, requests without an agent follow VS Code's settings (`http.proxy`, the system's proxy and
 * certificates), so no agent is used. The exception is this machine: there, `NODE_USE_ENV_PROXY` would send the local service's key to a
 * proxy.
 */
export class Routes implements Disposable {
  readonly #agents = new Map<string, Agent>();
  readonly #signal: AbortSignal | undefined;
  readonly #only: Agent | undefined;

  /**
   * @param options `signal` aborts connections that are being established, for requests that do not inform their agent; `agent` makes all
   *   connections, in place of our own.
   */
  constructor({ signal, agent }: { readonly signal?: AbortSignal; readonly agent?: Agent | undefined } = {}) {
    this.#signal = signal;
    this.#only = agent;
  }

  /** @throws AppError `bad-input` for an invalid proxy variable. */
  to(url: URL): Route {
    if (this.#only !== undefined) return { agent: this.#only, proxy: undefined };
    const isOwn = isOwnMachine(url.hostname);
    if (!isOwn && hasEditorAgent()) return { agent: undefined, proxy: undefined };
    const proxy = proxyFor(url);
    const isSecure = url.protocol === 'https:';
    const key = `${url.protocol} ${proxy === undefined ? '' : `${proxy.setting} ${proxy.address} ${proxy.authorization}`}`;
    let agent = this.#agents.get(key);
    if (agent === undefined) {
      if (isSecure) agent = new SecureAgent(proxy, this.#signal);
      else agent = proxy === undefined ? directAgent() : new ForwardAgent(proxy, this.#signal);
      this.#agents.set(key, agent);
    }
    return { agent, proxy };
  }

  /** Idle connections, including those of Node's global agents. */
  idleSockets(): Set<Socket> {
    const agents = [globalAgent, secureGlobalAgent, ...this.#agents.values()];
    return new Set(agents.flatMap(({ freeSockets }) => Object.values(freeSockets).flatMap((sockets) => sockets ?? [])));
  }

  [Symbol.dispose](): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#only?.destroy();
  }
}

/** Whether this thread is VS Code's extension host, which stores the functions that it replaced under this name. */
function hasEditorAgent(): boolean {
  return '__vscodeOriginal' in http;
}
