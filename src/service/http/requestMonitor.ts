import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import { Emitter } from '../../core/processes/lifetime.ts';
import type { AppContext, AppEnv } from './access/appEnv.ts';
import { clientAddress } from './access/clientAddress.ts';
import type { ProxySettings } from '../config/sections.ts';

// What a proxy or a client may call its request: nothing that could break a line of a log or fill it.
const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/;
const EVENTS_ROUTE = '/v1/jobs/:id/events';
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A request whose answer has been sent, or whose client has left. */
export interface FinishedRequest {
  readonly id: string;
  readonly method: string;
  readonly route: string;
  /** 499 when the client left before the answer was complete, as nginx counts it. */
  readonly status: number;
  readonly ms: number;
  /** Bytes that came over the connection for it, head and body. */
  readonly received: number;
  readonly sent: number;
  /** Whose key it carried; undefined where no key was needed, or the key was refused. */
  readonly account: string | undefined;
  /** The address that it came from. */
  readonly client: string;
}

/**
 * Sees each request from its first byte to its last: names it, knows which are open, and for how long there was none.
 *
 * Answers may be written past the framework (a file is), so the response itself is what is watched.
 */
export class RequestMonitor {
  readonly #finished = new Emitter<FinishedRequest>();
  readonly #quiet = new Emitter<void>();
  #open = 0;
  #streams = 0;
  #lastAt = performance.now();
  // What a connection had carried when its last request ended: the next one's first bytes are read before it is seen.
  readonly #carried = new WeakMap<Socket, { readonly received: number; readonly sent: number }>();
  readonly #proxy: ProxySettings | undefined;
  /** Fires after each request. */
  readonly onDidFinish = this.#finished.event;

  constructor(proxy: ProxySettings | undefined) {
    this.#proxy = proxy;
  }

  /** Event streams that are open. */
  get openStreams(): number {
    return this.#streams;
  }

  /** For how long nobody has asked anything, in milliseconds. A stream that is open is a request that goes on. */
  idleMs(): number {
    return this.#open > 0 ? 0 : performance.now() - this.#lastAt;
  }

  touch(): void {
    this.#lastAt = performance.now();
  }

  /** Waits until no request but event streams is open, or the signal aborts. */
  untilQuiet(signal: AbortSignal): Promise<void> {
    const isDone = (): boolean => signal.aborted || this.#open === this.#streams;
    if (isDone()) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = (): void => {
        if (!isDone()) return;
        subscription.dispose();
        signal.removeEventListener('abort', settle);
        resolve();
      };
      const subscription = this.#quiet.event(settle);
      signal.addEventListener('abort', settle);
    });
  }

  /** Watches each request; the first of all middleware. */
  watch(): MiddlewareHandler<AppEnv> {
    return async (context, next) => {
      const { outgoing } = context.env;
      const given = context.req.header('x-request-id') ?? '';
      const id = REQUEST_ID.test(given) ? given : randomUUID();
      const route = routeOf(context);
      context.set('requestId', id);
      context.set('route', route);
      context.set('client', clientAddress(context.env.incoming, this.#proxy));
      outgoing.setHeader('X-Request-Id', id);
      this.#begin(context, { id, route });
      await next();
    };
  }

  #begin(context: AppContext, { id, route }: { id: string; route: string }): void {
    const { incoming, outgoing } = context.env;
    const startedAt = performance.now();
    const { socket } = incoming;
    const before = this.#carried.get(socket) ?? { received: 0, sent: 0 };
    const { client } = context.var;
    const isStream = route === EVENTS_ROUTE;
    this.#open += 1;
    if (isStream) this.#streams += 1;
    outgoing.once('close', () => {
      this.#open -= 1;
      if (isStream) this.#streams -= 1;
      this.touch();
      const carried = { received: socket.bytesRead, sent: socket.bytesWritten };
      this.#carried.set(socket, carried);
      this.#finished.fire({
        id,
        method: METHODS.has(incoming.method ?? '') ? (incoming.method ?? '') : 'other',
        route,
        status: outgoing.writableFinished || isStream ? outgoing.statusCode : 499,
        ms: performance.now() - startedAt,
        received: carried.received - before.received,
        sent: carried.sent - before.sent,
        client,
        account: (context.var as Partial<AppEnv['Variables']>).account?.id,
      });
      this.#quiet.fire();
    });
  }
}

function routeOf(context: AppContext): string {
  return matchedRoutes(context).findLast(({ path }) => !path.includes('*'))?.path ?? 'unknown';
}
