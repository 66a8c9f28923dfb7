import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { systemCode } from '../errors.ts';
import type { Proxy } from './proxy.ts';
import { ProxyError, proxyRefused, proxyUnreachable } from './proxyError.ts';
import { systemTrust, isUnknownAuthority } from './trust.ts';

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
  const asked = request({ method: 'CONNECT', path: target, headers, createConnection: () => toProxy, signal });
  try {
    asked.end();
    const { statusCode, tunnel } = await responseTo(asked);
    if (statusCode >= 200 && statusCode < 300) return tunnel;
    throw proxyRefused(proxy, target, statusCode);
  } catch (error) {
    toProxy.destroy();
    signal.throwIfAborted();
    throw error instanceof ProxyError ? error : proxyUnreachable(proxy, target, error);
  }
}

function responseTo(asked: ClientRequest): Promise<{ readonly statusCode: number; readonly tunnel: Socket }> {
  return new Promise((resolve, reject) => {
    asked.once('connect', ({ statusCode = 0 }, tunnel) => resolve({ statusCode, tunnel }));
    asked.once('error', reject);
  });
}

/** Connects with Node's certificates, and again with the system's if those were not enough. */
export async function trustingSystem<T>(
  connectWith: (trust: ReturnType<typeof systemTrust>) => Promise<T>,
): Promise<T> {
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
