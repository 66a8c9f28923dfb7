import type { HttpBindings } from '@hono/node-server';
import type { Handler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { hasToken } from './auth.ts';
import { isFromThisMachine } from './clientAddress.ts';

/** What there is to read. */
export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}

/** `GET /metrics`, for programs of this machine and for those that know the token. */
export function answerMetrics(metrics: MetricsSource, token: string | undefined): Handler<{ Bindings: HttpBindings }> {
  return async (context) => {
    const isAllowed =
      isFromThisMachine(context.env.incoming) ||
      (token !== undefined && hasToken(context.req.header('authorization'), token));
    if (!isAllowed) {
      const message = 'Metrics are for this machine and for those that send the token of [metrics] as a bearer token.';
      throw new HTTPException(403, { message });
    }
    return context.body(await metrics.text(), 200, {
      'Content-Type': metrics.contentType,
      'Cache-Control': 'no-store',
    });
  };
}
