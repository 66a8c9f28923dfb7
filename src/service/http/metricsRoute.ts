import type { HttpBindings } from '@hono/node-server';
import type { Handler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { hasToken } from './access/auth.ts';
import { isFromThisMachine } from './access/clientAddress.ts';

/** What there is to read. */
export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}

/**
 * `GET /metrics`: for those that send the token or, where there is none, for programs of this machine. Jobs that have the network
 * are such programs too, so a token keeps them out as well.
 */
export function answerMetrics(metrics: MetricsSource, token: string | undefined): Handler<{ Bindings: HttpBindings }> {
  return async (context) => {
    const isAllowed =
      token === undefined
        ? isFromThisMachine(context.env.incoming)
        : hasToken(context.req.header('authorization'), token);
    if (!isAllowed) {
      const message =
        token === undefined
          ? 'Metrics are for programs of this machine; others need the token of [metrics], which this service has none of.'
          : 'Metrics are for those that send the token of [metrics] as a bearer token.';
      throw new HTTPException(403, { message });
    }
    return context.body(await metrics.text(), 200, {
      'Content-Type': metrics.contentType,
      'Cache-Control': 'no-store',
    });
  };
}
