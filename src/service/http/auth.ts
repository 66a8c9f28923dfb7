import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';

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

/** Lets requests with `Authorization: Bearer <key>` pass; takes the same time for every wrong key. */
export function requireKey(key: string): MiddlewareHandler {
  const expected = digest(key);
  return async (context, next) => {
    const [, given = ''] = /^Bearer +(\S+) *$/i.exec(context.req.header('authorization') ?? '') ?? [];
    if (!timingSafeEqual(digest(given), expected)) {
      const message =
        given === '' ? 'An API key is needed: Authorization: Bearer <key>.' : 'Invalid or revoked API key.';
      throw new HTTPException(401, { message });
    }
    await next();
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
