import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ClientRequest } from 'node:http';
import nodeFetch, { type RequestInit, type Response } from 'node-fetch';
import { isAbort } from '../errors.ts';
import type { Proxy } from './proxy.ts';
import { answerOfProxy, editorProxyUnreachable } from './proxyError.ts';
import type { Routes } from './routes.ts';

const REQUEST_CREATED = 'http.client.request.created';

/** A request in progress. */
export interface Sending {
  /** The request with its socket, which node-fetch hides. */
  readonly request: ClientRequest | undefined;
  /** The proxy that it uses; undefined if there is none or VS Code decides. */
  readonly proxy: Proxy | undefined;
  /** @throws the system's own error, which node-fetch would wrap, or a ProxyError, also if a proxy responded in place of the service. */
  readonly response: Promise<Response>;
}

/**
 * Sends a request with node-fetch, over the route that `routes` chooses.
 *
 * @throws AppError `bad-input` for an invalid proxy variable.
 */
export function sendRequest(routes: Routes, url: URL, init: RequestInit): Sending {
  const { proxy, agent: own } = routes.to(url);
  let request: ClientRequest | undefined;
  // node-fetch creates its request before it returns, so the request that this channel reports meanwhile is ours.
  const onCreated = (message: unknown): void => {
    if (typeof message !== 'object' || message === null || !('request' in message)) return;
    if (message.request instanceof ClientRequest) request ??= message.request;
  };
  subscribe(REQUEST_CREATED, onCreated);
  const agent = (target: URL) => routes.to(target).agent; // a redirect may lead elsewhere
  const pending = nodeFetch(url, { ...init, agent });
  unsubscribe(REQUEST_CREATED, onCreated);
  return { request, proxy, response: checked(pending, request, { url, proxy, isEditors: own === undefined }) };
}

async function checked(
  pending: Promise<Response>,
  request: ClientRequest | undefined,
  { url, proxy, isEditors }: { readonly url: URL; readonly proxy: Proxy | undefined; readonly isEditors: boolean },
): Promise<Response> {
  let systemError: Error | undefined;
  request?.once('error', (error) => (systemError = error));
  let response: Response;
  try {
    response = await pending;
  } catch (error) {
    if (isAbort(error)) throw error;
    throw editorProxyUnreachable(error, url.host) ?? systemError ?? error;
  }
  const failure = answerOfProxy(request, response.status, { url, proxy, isEditors });
  if (failure === undefined) return response;
  request?.destroy();
  throw failure;
}
