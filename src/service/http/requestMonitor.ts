import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import { Emitter, untilTrue } from '../../core/processes/lifetime.ts';
import type { AppContext, AppEnv } from './access/appEnv.ts';
import { clientAddress } from './access/clientAddress.ts';
import type { ProxySettings } from '../config/configSections.ts';
import { patternOf, ROUTES } from './apiRoutes.ts';

// Accepted request IDs of proxies and clients: nothing that could break or flood a line of the log.
const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/;
const STREAMS = new Set([patternOf(ROUTES.events), patternOf(ROUTES.connect)]);
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A request whose response was sent, or whose client disconnected. */
export interface FinishedRequest {
  readonly id: string;
  readonly method: string;
  readonly route: string;
  /** 499 if the client disconnected before the response was complete, as in nginx. */
  readonly status: number;
  readonly ms: number;
  /** Bytes of its headers and body, as received. */
  readonly received: number;
  readonly sent: number;
  /** The account of its key; undefined if no key was required, or the key was refused. */
  readonly account: string | undefined;
  /** The address of the client. */
  readonly client: string;
}

/**
 * Follows each request from its first byte to its last, and knows which are open and how long the service has been idle.
 *
 * Files and streams bypass the framework, so the response itself is observed.
 */
export class RequestMonitor {
  readonly #finished = new Emitter<FinishedRequest>();
  readonly #quiet = new Emitter<void>();
  #open = 0;
  #streams = 0;
  #lastAt = performance.now();
  // The bytes of each connection when its last request ended. The first bytes of the next one are read before it is observed.
  readonly #carried = new WeakMap<Socket, { readonly received: number; readonly sent: number }>();
  readonly #proxy: ProxySettings | undefined;
  /** Fires after each request. */
  readonly onDidFinish = this.#finished.event;

  constructor(proxy: ProxySettings | undefined) {
    this.#proxy = proxy;
  }

  get openStreams(): number {
    return this.#streams;
  }

  /** Milliseconds without an open request; 0 while one is open, such as an event stream. */
  idleMs(): number {
    return this.#open > 0 ? 0 : performance.now() - this.#lastAt;
  }

  touch(): void {
    this.#lastAt = performance.now();
  }

  /** Waits until only event streams are open, or the signal aborts. */
  untilQuiet(signal: AbortSignal): Promise<void> {
    return untilTrue(this.#quiet.event, () => this.#open === this.#streams, signal);
  }

  /** Must be the first middleware. */
  watch(): MiddlewareHandler<AppEnv> {
    return async (context, next) => {
      const { outgoing } = context.env;
      const requestId = context.req.header('x-request-id') ?? '';
      const id = REQUEST_ID.test(requestId) ? requestId : randomUUID();
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
    const isStream = STREAMS.has(route);
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
