import { timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { Context, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { type Account, LOCAL_ACCOUNT } from '../store/accounts.ts';
import { keyDigest } from '../store/apiKeys.ts';
import type { Store } from '../store/store.ts';
import type { AppEnv } from './appEnv.ts';

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/**
 * Refuses what a web page could send through a browser: a foreign `Host` (DNS rebinding) and any `Origin`.
 *
 * @param port gives the port, which is known once the server listens.
 */
export function refuseBrowsers(port: () => number): MiddlewareHandler {
  return async (context, next) => {
    const names = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port()}`);
    if (!names.includes(context.req.header('host') ?? '')) {
      throw new HTTPException(400, { message: 'The Host header does not name this service.' });
    }
    if (context.req.header('origin') !== undefined) {
      throw new HTTPException(400, { message: 'Requests from web pages are not answered.' });
    }
    await next();
  };
}

/**
 * Lets requests with `Authorization: Bearer <key>` pass, and says whose they are in the context's `account`.
 *
 * @param localKey the key of the account `local`, which is in no store.
 */
export function requireKey(store: Pick<Store, 'accounts' | 'keys'>, localKey: string): MiddlewareHandler<AppEnv> {
  const localDigest = keyDigest(localKey);
  return async (context, next) => {
    const given = bearerOf(context);
    if (given === undefined) throw refusal('An API key is needed: Authorization: Bearer <key>.');
    context.set('account', accountOf(given));
    await next();
  };

  function accountOf(given: string): Account {
    if (timingSafeEqual(keyDigest(given), localDigest)) return checkAccount(LOCAL_ACCOUNT);
    const key = store.keys.find(given);
    if (key === undefined) throw refusal('Invalid or revoked API key.');
    const now = Date.now();
    // Only who has the key is told more than that it opens nothing.
    if (key.revokedAt !== null) throw refusal('This API key was revoked. Ask whoever runs the service for a new one.');
    if (key.expiresAt !== null && key.expiresAt <= now) {
      const day = new Date(key.expiresAt).toISOString().slice(0, 10);
      throw refusal(`This API key expired on ${day}. Ask whoever runs the service for a new one.`);
    }
    const account = checkAccount(key.account);
    store.keys.noteUse(key, now);
    return account;
  }

  function checkAccount(id: string): Account {
    const account = store.accounts.get(id);
    if (account.disabledAt === null) return account;
    throw refusal(`The account ${id} is disabled. Ask whoever runs the service.`);
  }
}

/** Whether a request carries this token as its bearer token; takes the same time for every wrong one. */
export function hasToken(context: Context, token: string): boolean {
  return timingSafeEqual(keyDigest(bearerOf(context) ?? ''), keyDigest(token));
}

function bearerOf(context: Context): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(context.req.header('authorization') ?? '')?.[1];
}

function refusal(message: string): HTTPException {
  return new HTTPException(401, { message });
}
