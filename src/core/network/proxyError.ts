import type { ClientRequest } from 'node:http';
import { TLSSocket } from 'node:tls';
import { messageOf, systemCode } from '../errors.ts';
import type { Proxy } from './proxy.ts';

const AUTHENTICATION_REQUIRED = 407;

/** A proxy did not connect, so nothing of the request reached the service. Contains no credentials. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  /** The system's code if it could not be reached, else `ERR_PROXY_REFUSED`. */
  readonly code: string;
  // As in the system's own errors: nothing of the request was sent.
  readonly syscall = 'connect';

  constructor(message: string, options: { readonly code: string; readonly cause?: unknown }) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = options.code;
  }
}

/** The error if the proxy itself could not be reached, or the connection to it broke. */
export function proxyUnreachable(proxy: Proxy, host: string, cause: unknown): ProxyError {
  const code = systemCode(cause);
  const reason = code ?? messageOf(cause);
  return new ProxyError(
    `The proxy ${proxy.address} does not answer (${reason}), so ${host} was not reached. Check ${proxy.setting} and that the proxy is running${orGoWithout(host)}.`,
    { code: code ?? 'ERR_PROXY_UNREACHABLE', cause },
  );
}

/** The error if the proxy responded in place of the service. */
export function proxyRefused(proxy: Proxy, host: string, status: number): ProxyError {
  const { address, setting, authorization } = proxy;
  const code = 'ERR_PROXY_REFUSED';
  if (status !== AUTHENTICATION_REQUIRED) {
    const advice = `Ask who runs the proxy to allow ${host}${orGoWithout(host)}.`;
    return new ProxyError(`The proxy ${address} did not connect to ${host} (HTTP ${status}). ${advice}`, { code });
  }
  const form = `USER:PASSWORD@ in front of the address in ${setting}, with special characters percent-encoded`;
  return new ProxyError(
    authorization === undefined
      ? `The proxy ${address} requires a user name and a password (HTTP 407), so ${host} was not reached. Put ${form}.`
      : `The proxy ${address} does not accept the user name and password in ${setting} (HTTP 407), so ${host} was not reached. Correct ${form}.`,
    { code },
  );
}

/** The error if no connection through the proxy was established in time. */
export function proxyTimedOut(proxy: Proxy, host: string, limitMs: number): ProxyError {
  const message = `${host} was not reached: no connection within ${limitMs / 1000} s${throughProxy(proxy, host)}.`;
  return new ProxyError(message, { code: 'ETIMEDOUT' });
}

/** The end of a timeout message for a connection through a proxy. */
export function throughProxy(proxy: Proxy, host: string): string {
  return ` through the proxy ${proxy.address}. Check ${proxy.setting} and that the proxy works${orGoWithout(host)}`;
}

/**
 * The error for a response that a proxy sent in place of the service; undefined for the service's own response. Where VS Code's agent makes
 * the connection, `proxy` is undefined: the agent passes on the proxy's response as if the service had sent it.
 */
export function answerOfProxy(
  request: ClientRequest | undefined,
  status: number,
  { url, proxy, isEditors }: { readonly url: URL; readonly proxy: Proxy | undefined; readonly isEditors: boolean },
): ProxyError | undefined {
  if (proxy === undefined && !isEditors) return undefined;
  // A service responds to an https request over TLS.
  const isInClear =
    url.protocol === 'https:' &&
    request?.socket !== null &&
    request !== undefined &&
    !(request.socket instanceof TLSSocket);
  if (status !== AUTHENTICATION_REQUIRED && !isInClear) return undefined;
  return proxy === undefined ? editorProxyRefused(url.host, status) : proxyRefused(proxy, url.host, status);
}

/** The error of VS Code's own proxy agent as a ProxyError; undefined for any other error. */
export function editorProxyUnreachable(error: unknown, host: string): ProxyError | undefined {
  const [, address] =
    /Failed to establish a socket connection to proxies: \w+ (?:[^\s@]*@)?([^\s;]+)/.exec(messageOf(error)) ?? [];
  if (address === undefined) return undefined;
  return new ProxyError(
    `The proxy ${address} does not answer, so ${host} was not reached. Check VS Code's setting http.proxy and that the proxy is running, or add ${host} to http.noProxy.`,
    { code: 'ERR_PROXY_UNREACHABLE' },
  );
}

function editorProxyRefused(host: string, status: number): ProxyError {
  const message =
    status === AUTHENTICATION_REQUIRED
      ? `The proxy requires a user name and a password (HTTP 407), so ${host} was not reached. Add them to VS Code's setting http.proxy.`
      : `The proxy did not connect to ${host} (HTTP ${status}). Ask who runs the proxy to allow ${host}, or add it to VS Code's setting http.noProxy.`;
  return new ProxyError(message, { code: 'ERR_PROXY_REFUSED' });
}

function orGoWithout(host: string): string {
  return `, or add ${host.replace(/:\d+$/, '')} to NO_PROXY if it can be reached directly`;
}
