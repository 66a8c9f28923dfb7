import type { MiddlewareHandler } from 'hono';
import type { AccountGauge } from './access/accountGauge.ts';
import type { AppContext } from './access/appEnv.ts';
import { hasToken } from './access/auth.ts';
import { isFromThisMachine } from './access/clientAddress.ts';
import type { DiskWatch } from '../disk/diskWatch.ts';
import type { Health } from '../health/health.ts';
import { proveKey } from './access/keyProof.ts';
import { drainRefusal } from '../jobs/drainTexts.ts';
import { refusal } from './access/httpRefusal.ts';
import { type RouteHandlers, ROUTES } from './apiRoutes.ts';
import { refuseDeclaredSize } from './submit/receiveUpload.ts';

// A service that is stopped is usually started again at once.
const RETRY_AFTER_SECONDS = 5;
// Maintenance takes minutes at least.
const DRAIN_RETRY_SECONDS = 300;

// A network that was interrupted often comes back soon.
const FOLDER_RETRY_SECONDS = 30;

export interface HealthOptions {
  readonly health: Health;
  /** The key that the service generated; undefined if a person chose it. */
  readonly ownKey: string | undefined;
  readonly version: string;
}

/**
 * Responds with 200 while the service accepts and keeps jobs, otherwise 503, with a sentence about each part of it. It needs no key. Anyone who has a proof of the
 * key can test guesses against it without limit. So the service proves only a key of 256 random bits, never one that a
 * person chose, and only to programs on this machine.
 */
export function healthHandler({ health, ownKey, version }: HealthOptions): RouteHandlers['health'] {
  return async (context) => {
    const { data: nonce, error } = ROUTES.health.parameters.query.nonce.safeParse(context.req.query('nonce'));
    if (error) throw refusal(400, 'nonce: must be 16 to 128 letters, digits, "_" or "-".');
    const isProven = nonce !== undefined && ownKey !== undefined && isFromThisMachine(context.env.incoming);
    const proof = isProven ? { proof: proveKey(ownKey, nonce) } : {};
    if (health.isStopping) {
      context.header('Retry-After', String(RETRY_AFTER_SECONDS));
      context.status(503);
      return { status: 'stopping', version, ...proof };
    }
    const { status, parts } = await health.report();
    if (status === 'unavailable') context.status(503);
    return { status, version, parts, ...proof };
  };
}

export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}

/**
 * Requires the token or, without one, that the client is on this machine. That includes jobs with network access, which a token keeps
 * out.
 */
export function metricsHandler(metrics: MetricsSource, token: string | undefined): RouteHandlers['metrics'] {
  return async (context) => {
    const isReader =
      token === undefined
        ? isFromThisMachine(context.env.incoming)
        : hasToken(context.req.header('authorization'), token);
    if (!isReader) {
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

/** Responds with 503 while the service stops, except to requests for its health and metrics. */
export function refuseWhenStopping(health: Health): MiddlewareHandler {
  return async (context, next) => {
    if (!health.isStopping || !context.req.path.startsWith('/v1/')) return next();
    context.header('Retry-After', String(RETRY_AFTER_SECONDS));
    return context.json({ detail: 'The service is being restarted. Try again in a few seconds.' }, 503);
  };
}

/** What decides whether submissions are accepted. */
export interface SubmissionGate {
  readonly health: Health;
  readonly gauge: AccountGauge;
  readonly disk: Pick<DiskWatch, 'refusal'>;
}

/**
 * Refuses submissions before anything is uploaded.
 *
 * @throws HTTPException 413 if an archive is declared to be larger than the account's may be, 503 if no job could start or be stored or
 *   the service is drained, 507 while the disk is nearly full, whose rest is for running jobs, or the account has used up its own limit.
 */
export async function requireOpenForSubmissions(
  context: AppContext,
  { health, gauge, disk }: SubmissionGate,
): Promise<void> {
  const { executorRefusal, folderRefusal, drain } = health;
  if (drain !== undefined) {
    context.header('Retry-After', String(DRAIN_RETRY_SECONDS));
    throw refusal(503, drainRefusal(drain));
  }
  if (executorRefusal !== undefined) throw refusal(503, executorRefusal);
  if (folderRefusal !== undefined) {
    context.header('Retry-After', String(FOLDER_RETRY_SECONDS));
    throw refusal(503, folderRefusal);
  }
  const { account } = context.var;
  const bytes = Number(context.req.header('content-length') ?? 0);
  refuseDeclaredSize(bytes, gauge.limitsOf(account).upload_bytes); // also where the disk has too little room
  const diskRefusal = disk.refusal(account.id, bytes) ?? (await health.refusal(bytes));
  if (diskRefusal !== undefined) throw refusal(507, diskRefusal);
}
