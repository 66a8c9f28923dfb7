import http, { type Agent, globalAgent } from 'node:http';
import { globalAgent as secureGlobalAgent } from 'node:https';
import type { Socket } from 'node:net';
import { directAgent, ForwardAgent, SecureAgent } from './agents.ts';
import { isOwnMachine } from './loopback.ts';
import { type Proxy, proxyFor } from './proxy.ts';

export interface Route {
  /** Undefined where VS Code's own agent decides. */
  readonly agent: Agent | undefined;
  readonly proxy: Proxy | undefined;
}

/**
 * How requests leave this machine: the one place that decides on proxies and certificates, and keeps connections for reuse.
 *
 * Inside VS Code's extension host, requests without an agent go the way that VS Code is set to (`http.proxy`, the system's proxy,
 * its certificates), so none is given, except to this machine, where `NODE_USE_ENV_PROXY` would send the key of the local service
 * to a proxy.
 */
export class Routes implements Disposable {
  readonly #agents = new Map<string, Agent>();
  readonly #signal: AbortSignal | undefined;

  /** @param signal ends connections that are being made, for requests that do not tell their agent. */
  constructor({ signal }: { readonly signal?: AbortSignal } = {}) {
    this.#signal = signal;
  }

  /** @throws AppError `bad-input` for a proxy variable that names none. */
  to(url: URL): Route {
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

  /** Connections that wait for another request, among them those of Node's global agents. */
  idleSockets(): Set<Socket> {
    const agents = [globalAgent, secureGlobalAgent, ...this.#agents.values()];
    return new Set(agents.flatMap(({ freeSockets }) => Object.values(freeSockets).flatMap((sockets) => sockets ?? [])));
  }

  [Symbol.dispose](): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }
}

/** Whether this thread is VS Code's extension host, which keeps the functions that it replaced under this name. */
function hasEditorAgent(): boolean {
  return '__vscodeOriginal' in http;
}
