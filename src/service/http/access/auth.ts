import { timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { keyDigest } from '../../store/accounts/apiKeys.ts';
import { retryLater } from './accountGauge.ts';
import type { AppEnv } from './appEnv.ts';
import type { KeyAuthenticator } from './keyAuthenticator.ts';
import type { AuthFailureLimiter } from './authFailureLimiter.ts';

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** What stands in `Host` when a program of this machine asks a server of it on this port. */
export function loopbackHosts(port: number): readonly string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
}

/**
 * Refuses what a web page could send through a browser: a foreign `Host` (DNS rebinding) and any `Origin`.
 *
 * @param hosts gives what `Host` may be, which is known once the server listens.
 */
export function refuseBrowsers(hosts: () => readonly string[]): MiddlewareHandler {
  return async (context, next) => {
    if (!hosts().includes(context.req.header('host') ?? '')) {
      throw new HTTPException(400, { message: 'The Host header does not name this service.' });
    }
    if (context.req.header('origin') !== undefined) {
      throw new HTTPException(400, { message: 'Requests from web pages are not answered.' });
    }
    await next();
  };
}

/**
 * Lets requests with `Authorization: Bearer <key>` pass, and says whose they are in the context's `account`. No key is
 * looked up for an address that many wrong ones came from.
 */
export function requireKey(
  authenticator: KeyAuthenticator,
  authFailures: AuthFailureLimiter,
): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const given = bearerOf(context.req.header('authorization'));
    if (given === undefined) {
      throw new HTTPException(401, { message: 'An API key is needed: Authorization: Bearer <key>.' });
    }
    const digest = keyDigest(given);
    const address = context.var.client;
    const seconds = authFailures.secondsToWait(address, digest);
    if (seconds > 0) throw retryLater(context, seconds, 'Too many wrong API keys came from this address.');
    try {
      const visit = authenticator.enter(digest);
      if (visit === undefined) throw new HTTPException(401, { message: 'Invalid or revoked API key.' });
      context.set('visit', visit);
      context.set('account', visit.account);
    } catch (error) {
      // A store that cannot be read says nothing about the key.
      if (error instanceof HTTPException) authFailures.noteWrong(address, digest);
      throw error;
    }
    authFailures.noteGood(address, digest);
    await next();
  };
}

/** Whether a header `Authorization` carries this token as its bearer token; takes the same time for every wrong one. */
export function hasToken(authorization: string | undefined, token: string): boolean {
  return timingSafeEqual(keyDigest(bearerOf(authorization) ?? ''), keyDigest(token));
}

function bearerOf(authorization = ''): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}
