import { timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { keyDigest } from '../../store/accounts/apiKeys.ts';
import { refusal } from './httpRefusal.ts';
import { retryLater } from './accountGauge.ts';
import type { AppContext, AppEnv } from './appEnv.ts';
import type { KeyAuthenticator, TokenAuthenticator, Caller } from './keyAuthenticator.ts';
import type { AuthFailureLimiter } from './authFailureLimiter.ts';

/** Whether only this machine can reach an address. */
export function isLoopbackAddress(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** The `Host` headers of requests from this machine to a server on this port. */
export function loopbackHosts(port: number): readonly string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
}

/**
 * Refuses what a web page could send through a browser: a foreign `Host` (DNS rebinding) and any `Origin`.
 *
 * @param hosts returns the allowed values of `Host`, which are known once the server listens.
 * @param formPaths where the service's own page sends forms to, whose `Origin` it checks itself.
 */
export function refuseBrowsers(hosts: () => readonly string[], formPaths: readonly string[]): MiddlewareHandler {
  return async (context, next) => {
    if (!hosts().includes(context.req.header('host') ?? '')) {
      throw refusal(
        400,
        'The Host header does not name this service. If a proxy in front of it is meant to pass requests on, its operator starts it with --behind-proxy, or adds the section [proxy] to its configuration.',
      );
    }
    if (context.req.header('origin') !== undefined && !formPaths.includes(context.req.path)) {
      throw refusal(400, 'Requests from web pages are refused.');
    }
    await next();
  };
}

// The header of a JSON Web Token, an object in base64url, which no key of the service looks like.
const TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;

/**
 * Admits requests with `Authorization: Bearer <key>` and sets `account` in their context. Keys from an address that sent many wrong
 * ones are not looked up. Access tokens are verified whatever was sent before, because nobody can guess a signature.
 *
 * @param tokens undefined if nobody can sign in, so that each bearer is a key.
 */
export function requireKey(
  authenticator: KeyAuthenticator,
  authFailures: AuthFailureLimiter,
  tokens: TokenAuthenticator | undefined,
): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const key = bearerOf(context.req.header('authorization'));
    if (key === undefined) {
      throw refusal(401, 'An API key is required: Authorization: Bearer <key>.');
    }
    const caller =
      tokens !== undefined && TOKEN.test(key)
        ? await tokens.enter(key)
        : admitKey(context, key, { authenticator, authFailures });
    context.set('caller', caller);
    context.set('account', caller.account);
    await next();
  };
}

/** Finds who has a key, unless its address sent many wrong ones. @throws HTTPException 401, 403 for a disabled account, or 429. */
export function admitKey(
  context: AppContext,
  key: string,
  { authenticator, authFailures }: { authenticator: KeyAuthenticator; authFailures: AuthFailureLimiter },
): Caller {
  const digest = keyDigest(key);
  const address = context.var.client;
  const seconds = authFailures.secondsToWait(address, digest);
  if (seconds > 0) throw retryLater(context, seconds, 'This address sent too many wrong API keys.');
  try {
    const caller = authenticator.enter(digest);
    if (caller === undefined) throw refusal(401, 'Invalid or revoked API key.');
    authFailures.noteGood(address, digest);
    return caller;
  } catch (error) {
    // An unreadable store says nothing about the key, and the key of a disabled account is correct, so neither counts as a wrong key.
    if (error instanceof HTTPException && error.status === 401) authFailures.noteWrong(address, digest);
    throw error;
  }
}

/** Whether an `Authorization` header has this bearer token. Takes the same time for every wrong token. */
export function hasToken(authorization: string | undefined, token: string): boolean {
  return timingSafeEqual(keyDigest(bearerOf(authorization) ?? ''), keyDigest(token));
}

function bearerOf(authorization = ''): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}
