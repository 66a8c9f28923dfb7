import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { type Limits, type LimitsSettings, limitsOf } from '../../config/limitsConfig.ts';
import type { StoredAccount } from '../../store/accounts/accountTable.ts';
import { UploadSlots } from './uploadSlots.ts';
import type { AppContext, AppEnv } from './appEnv.ts';
import { onClose } from './onClose.ts';
import { TokenBuckets } from './tokenBuckets.ts';

/** `bodies` are those of other requests, which are read into memory; `tunnels` lead into jobs. */
type SlotKind = 'uploads' | 'streams' | 'bodies' | 'tunnels';

const NAMES: Readonly<Record<SlotKind, string>> = {
  uploads: 'uploads',
  streams: 'event streams and downloads',
  bodies: 'requests with a body',
  tunnels: 'connections into jobs',
};
/** At most half a megabyte each. A client has one or two at once. */
const MOST_BODIES = 32;

// When another upload or stream is likely to have ended.
const SLOT_RETRY_SECONDS = 5;
const ALL_UPLOADS_RETRY_SECONDS = 10;

/** Counts the requests, uploads and streams of each account, and enforces its limits. */
export class AccountGauge {
  readonly #settings: LimitsSettings;
  readonly #mostTunnels: number;
  readonly #requests = new TokenBuckets();
  readonly #uploads: UploadSlots;
  readonly #slots: Readonly<Record<SlotKind, Map<string, number>>> = {
    uploads: new Map(),
    streams: new Map(),
    bodies: new Map(),
    tunnels: new Map(),
  };

  /** @param mostTunnels of one account. */
  constructor(settings: LimitsSettings, mostTunnels: number) {
    this.#settings = settings;
    this.#mostTunnels = mostTunnels;
    this.#uploads = new UploadSlots(settings.all_uploads);
  }

  limitsOf(account: StoredAccount): Limits {
    return limitsOf(account, this.#settings);
  }

  /** How many requests of a kind an account has open. */
  open(kind: SlotKind, accountId: string): number {
    return this.#slots[kind].get(accountId) ?? 0;
  }

  /** Refuses requests above the account's rate with 429. A stream is one request. */
  limitRate(): MiddlewareHandler<AppEnv> {
    return async (context, next) => {
      this.countRequest(context);
      await next();
    };
  }

  /** Counts one request of the account. @throws HTTPException 429 above its rate. */
  countRequest(context: AppContext): void {
    const { account } = context.var;
    const { requests_per_minute: perMinute } = this.limitsOf(account);
    const seconds = this.#requests.take(account.id, perMinute);
    if (seconds > 0) throw retryLater(context, seconds, `The account may send ${perMinute} requests a minute.`);
  }

  /** Counts this request as one of the account's of a kind until its response is closed. @throws HTTPException 429. */
  take(context: AppContext, kind: SlotKind): void {
    const { account } = context.var;
    const most = { bodies: MOST_BODIES, tunnels: this.#mostTunnels, ...this.limitsOf(account) }[kind];
    const slots = this.#slots[kind];
    const count = this.open(kind, account.id);
    if (count >= most) {
      throw retryLater(context, SLOT_RETRY_SECONDS, `The account may have ${most} ${NAMES[kind]} open at once.`);
    }
    const release = kind === 'uploads' ? this.#takeUpload(context) : undefined;
    slots.set(account.id, count + 1);
    onClose(context.env.outgoing, () => {
      release?.();
      const left = this.open(kind, account.id) - 1;
      if (left > 0) slots.set(account.id, left);
      else slots.delete(account.id);
    });
  }

  /** @throws HTTPException 429 if the account has to leave the uploads that the service receives at once to others. */
  #takeUpload(context: AppContext): () => void {
    const { account } = context.var;
    const why = this.#uploads.refusal(account.id);
    if (why !== undefined) throw retryLater(context, ALL_UPLOADS_RETRY_SECONDS, why);
    return this.#uploads.add(account.id, context.env.incoming);
  }
}

/** A 429 with `Retry-After` in whole seconds (RFC 6585, section 4). */
export function retryLater(context: AppContext, seconds: number, why: string): HTTPException {
  context.header('Retry-After', String(seconds));
  const message = `${why} Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`;
  return new HTTPException(429, { message });
}
