import type { HttpBindings } from '@hono/node-server';
import type { Handler, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { isFromThisMachine } from './access/clientAddress.ts';
import type { Health } from './health.ts';
import { proveKey } from './access/keyProof.ts';

// A service that is told to end is usually started again at once.
const RETRY_AFTER_SECONDS = 5;

interface HealthAnswer {
  readonly health: Health;
  /** The key that the service made itself; undefined where a person chose it. */
  readonly ownKey: string | undefined;
  readonly version: string;
}

/**
 * `GET /healthz`: 200 when the service can do its work, else 503 with what is wrong. It needs no key. Whoever has the proof that it
 * knows its key can try keys against it for as long as they like: it is given of 256 random bits alone, never of a key that a person
 * chose, and to programs of this machine alone.
 */
export function answerHealth({ health, ownKey, version }: HealthAnswer): Handler<{ Bindings: HttpBindings }> {
  return async (context) => {
    const nonce = context.req.query('nonce');
    if (nonce !== undefined && !/^[\w-]{16,128}$/.test(nonce)) {
      throw new HTTPException(400, { message: 'nonce: give 16 to 128 letters, digits, "_" or "-".' });
    }
    const isProven = nonce !== undefined && ownKey !== undefined && isFromThisMachine(context.env.incoming);
    const proof = isProven ? { proof: proveKey(ownKey, nonce) } : {};
    if (health.isStopping) {
      context.header('Retry-After', String(RETRY_AFTER_SECONDS));
      return context.json({ status: 'stopping', version, ...proof }, 503);
    }
    const problems = await health.problems();
    if (problems.length > 0) return context.json({ status: 'degraded', version, problems, ...proof }, 503);
    const warnings = await health.warnings();
    return context.json({ status: 'ok', version, ...(warnings.length > 0 && { warnings }), ...proof });
  };
}

/** Answers 503 to all that is asked of a service that ends, but for its health and its metrics. */
export function refuseWhenStopping(health: Health): MiddlewareHandler {
  return async (context, next) => {
    if (!health.isStopping || !context.req.path.startsWith('/v1/')) return next();
    context.header('Retry-After', String(RETRY_AFTER_SECONDS));
    return context.json({ detail: 'The service is being restarted. Try again in a few seconds.' }, 503);
  };
}

/** Refuses submissions whose jobs could not start, before any of it is uploaded. */
export function refuseWhenUnstartable(health: Health): MiddlewareHandler {
  return async (context, next) => {
    const detail = health.executorRefusal;
    return detail === undefined ? next() : context.json({ detail }, 503);
  };
}

/** Refuses submissions while the disk is nearly full, before any of it is uploaded: what is left is for jobs that run. */
export function refuseWhenFull(health: Health): MiddlewareHandler {
  return async (context, next) => {
    const detail = await health.refusal(Number(context.req.header('content-length') ?? 0));
    return detail === undefined ? next() : context.json({ detail }, 507);
  };
}
