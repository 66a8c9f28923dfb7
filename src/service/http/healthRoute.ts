import type { HttpBindings } from '@hono/node-server';
import type { Handler, MiddlewareHandler } from 'hono';
import type { AccountGauge } from './access/accountGauge.ts';
import type { AppEnv } from './access/appEnv.ts';
import { isFromThisMachine } from './access/clientAddress.ts';
import type { DiskWatch } from '../disk/diskWatch.ts';
import type { Health } from '../health/health.ts';
import { proveKey } from './access/keyProof.ts';
import { drainRefusal } from '../jobs/drainTexts.ts';
import { refusal } from './access/refusal.ts';
import { refuseDeclaredSize } from './submit/upload.ts';

// A service that is stopped is usually started again at once.
const RETRY_AFTER_SECONDS = 5;
// Maintenance takes minutes at least.
const DRAIN_RETRY_SECONDS = 300;

// A network that was interrupted often comes back soon.
const FOLDER_RETRY_SECONDS = 30;

interface HealthOptions {
  readonly health: Health;
  /** The key that the service generated; undefined if a person chose it. */
  readonly ownKey: string | undefined;
  readonly version: string;
}

/**
 * `GET /healthz`: 200 while the service accepts and keeps jobs, otherwise 503, with a sentence about each part of it. It needs no key. Anyone who has a proof of the
 * key can test guesses against it without limit. So the service proves only a key of 256 random bits, never one that a
 * person chose, and only to programs on this machine.
 */
export function answerHealth({ health, ownKey, version }: HealthOptions): Handler<{ Bindings: HttpBindings }> {
  return async (context) => {
    const nonce = context.req.query('nonce');
    if (nonce !== undefined && !/^[\w-]{16,128}$/.test(nonce)) {
      throw refusal(400, 'nonce: must be 16 to 128 letters, digits, "_" or "-".');
    }
    const isProven = nonce !== undefined && ownKey !== undefined && isFromThisMachine(context.env.incoming);
    const proof = isProven ? { proof: proveKey(ownKey, nonce) } : {};
    if (health.isStopping) {
      context.header('Retry-After', String(RETRY_AFTER_SECONDS));
      return context.json({ status: 'stopping', version, ...proof }, 503);
    }
    const { status, parts } = await health.report();
    return context.json({ status, version, parts, ...proof }, status === 'unavailable' ? 503 : 200);
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
 * Refuses submissions before anything is uploaded: with 413 if an archive is declared to be larger than the account's may be, 503 if no job could start or be stored or the service is drained, with 507 while the disk is nearly full, whose rest is
 * for running jobs, or the account has used up its own limit.
 */
export function refuseSubmissions({ health, gauge, disk }: SubmissionGate): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const { executorRefusal, folderRefusal, drain } = health;
    if (drain !== undefined) {
      context.header('Retry-After', String(DRAIN_RETRY_SECONDS));
      return context.json({ detail: drainRefusal(drain) }, 503);
    }
    if (executorRefusal !== undefined) return context.json({ detail: executorRefusal }, 503);
    if (folderRefusal !== undefined) {
      context.header('Retry-After', String(FOLDER_RETRY_SECONDS));
      return context.json({ detail: folderRefusal }, 503);
    }
    const bytes = Number(context.req.header('content-length') ?? 0);
    refuseDeclaredSize(bytes, gauge.limitsOf(context.var.account).upload_bytes); // also where the disk has too little room
    const detail = disk.refusal(context.var.account.id, bytes) ?? (await health.refusal(bytes));
    return detail === undefined ? next() : context.json({ detail }, 507);
  };
}
