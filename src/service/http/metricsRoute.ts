import type { HttpBindings } from '@hono/node-server';
import type { Handler } from 'hono';
import { hasToken } from './access/auth.ts';
import { isFromThisMachine } from './access/clientAddress.ts';
import { refusal } from './access/refusal.ts';

export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}

/**
 * `GET /metrics`: requires the token or, without one, that the client is on this machine. That includes jobs with network access,
 * which a token keeps out.
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
          ? 'Only programs on this machine can read the metrics, because [metrics] has no token.'
          : 'Metrics require the token of [metrics] as a bearer token.';
      throw refusal(403, message);
    }
    return context.body(await metrics.text(), 200, {
      'Content-Type': metrics.contentType,
      'Cache-Control': 'no-store',
    });
  };
}
