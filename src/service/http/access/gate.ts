import { timingSafeEqual } from 'node:crypto';
import { HTTPException } from 'hono/http-exception';
import { type Account, LOCAL_ACCOUNT } from '../../store/accounts/accounts.ts';
import { type ApiKey, keyDigest } from '../../store/accounts/apiKeys.ts';
import type { Store } from '../../store/store.ts';

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Who asks, and by which key; `local` has one that is in no store. */
export interface Visit {
  readonly account: Account;
  readonly keyId: string | undefined;
}

/** A request that takes long: its signal aborts, with the refusal as reason, when its key opens nothing any more. */
export interface Stay extends Disposable {
  readonly signal: AbortSignal;
}

interface OpenStay {
  readonly visit: Visit;
  readonly controller: AbortController;
  timer: NodeJS.Timeout | undefined;
}

/** Knows which keys open the service, and ends what goes on under a key that does no more. */
export class Gate {
  readonly #store: Pick<Store, 'accounts' | 'keys'>;
  readonly #localDigest: Buffer;
  readonly #stays = new Set<OpenStay>();

  constructor(store: Pick<Store, 'accounts' | 'keys'>, localKey: string) {
    this.#store = store;
    this.#localDigest = keyDigest(localKey);
  }

  /**
   * Whom a key lets in, by its digest.
   *
   * @returns undefined for a key that was never one.
   * @throws HTTPException 401 for a key that is none any more. Only who has it learns that.
   */
  enter(digest: Buffer): Visit | undefined {
    if (timingSafeEqual(digest, this.#localDigest)) return this.#admit(LOCAL_ACCOUNT, undefined);
    const key = this.#store.keys.find(digest);
    if (key === undefined) return undefined;
    const visit = this.#admit(key.account, key.id);
    try {
      this.#store.keys.noteUse(key, Date.now());
    } catch {
      // A full disk: what can be read is still told, and /healthz says what is wrong.
    }
    return visit;
  }

  /** Watches the key of a request that takes long, until the result is disposed. */
  stay(visit: Visit): Stay {
    const stay: OpenStay = { visit, controller: new AbortController(), timer: undefined };
    this.#stays.add(stay);
    this.#check(stay);
    return {
      signal: stay.controller.signal,
      [Symbol.dispose]: () => {
        clearTimeout(stay.timer);
        this.#stays.delete(stay);
      },
    };
  }

  /** Looks at all keys in use again, after some may have been revoked or accounts disabled. */
  recheck(): void {
    for (const stay of this.#stays) this.#check(stay);
  }

  #check(stay: OpenStay): void {
    const { visit, controller } = stay;
    clearTimeout(stay.timer);
    try {
      this.#admit(visit.account.id, visit.keyId);
    } catch (error) {
      controller.abort(error);
      return;
    }
    const expiresAt = visit.keyId === undefined ? null : this.#store.keys.get(visit.keyId).expiresAt;
    if (expiresAt === null) return;
    stay.timer = setTimeout(() => this.#check(stay), Math.min(MAX_TIMER_MS, Math.max(1, expiresAt - Date.now())));
    stay.timer.unref();
  }

  #admit(accountId: string, keyId: string | undefined): Visit {
    if (keyId !== undefined) refuseEnded(this.#store.keys.get(keyId));
    const account = this.#store.accounts.get(accountId);
    if (account.disabledAt === null) return { account, keyId };
    throw refusal(`The account ${account.id} is disabled. Ask whoever runs the service.`);
  }
}

function refuseEnded({ revokedAt, expiresAt }: ApiKey): void {
  if (revokedAt !== null) throw refusal('This API key was revoked. Ask whoever runs the service for a new one.');
  if (expiresAt === null || expiresAt > Date.now()) return;
  const day = new Date(expiresAt).toISOString().slice(0, 10);
  throw refusal(`This API key expired on ${day}. Ask whoever runs the service for a new one.`);
}

function refusal(message: string): HTTPException {
  return new HTTPException(401, { message });
}
