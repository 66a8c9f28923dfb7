import { timingSafeEqual } from 'node:crypto';
import type { HTTPException } from 'hono/http-exception';
import { type StoredAccount, LOCAL_ACCOUNT } from '../../store/accounts/accountTable.ts';
import { type StoredKey, keyDigest } from '../../store/accounts/apiKeys.ts';
import type { Store } from '../../store/store.ts';
import { refusal } from './httpRefusal.ts';

const MAX_TIMER_MS = 2 ** 31 - 1;

/** An authenticated request: its account, and its key as it was then. The key of `local` is not in the store, nor are access tokens. */
export interface Caller {
  readonly account: StoredAccount;
  readonly key: StoredKey | undefined;
  /** When the access token of the request expires, in milliseconds since 1970; absent with a key. */
  readonly tokenExpiresAt?: number;
}

/** Authenticates the access tokens of people who have signed in. */
export interface TokenAuthenticator {
  /** @throws HTTPException 401 or 403 that says why the token or the person is refused, 503 if that cannot be found out now. */
  enter(token: string): Promise<Caller>;
}

/** A long-running request. Its signal aborts, with the refusal as the reason, when its key is revoked or expires. */
export interface RevocableRequest extends Disposable {
  readonly signal: AbortSignal;
}

interface OpenRequest {
  readonly caller: Caller;
  readonly controller: AbortController;
  timer: NodeJS.Timeout | undefined;
}

/** Authenticates API keys, and aborts the running requests of a key that becomes invalid. */
export class KeyAuthenticator {
  readonly #store: Pick<Store, 'accounts' | 'keys'>;
  readonly #localDigest: Buffer;
  readonly #open = new Set<OpenRequest>();

  constructor(store: Pick<Store, 'accounts' | 'keys'>, localKey: string) {
    this.#store = store;
    this.#localDigest = keyDigest(localKey);
  }

  /**
   * Finds the account of a key by the key's digest.
   *
   * @returns undefined for an unknown key.
   * @throws HTTPException 401 for a key that was revoked or has expired, 403 for one of a disabled account. Only the holder of the key
   *   learns that.
   */
  enter(digest: Buffer): Caller | undefined {
    if (timingSafeEqual(digest, this.#localDigest)) return this.#admit(LOCAL_ACCOUNT, undefined);
    const key = this.#store.keys.find(digest);
    if (key === undefined) return undefined;
    const caller = this.#admit(key.account, key.id);
    try {
      this.#store.keys.noteUse(key, Date.now());
    } catch {
      // A full disk: requests that only read still work, and /healthz reports the problem.
    }
    return caller;
  }

  /** An earlier caller as the store knows its key and account now. @throws HTTPException as `enter`. */
  check({ account, key }: Caller): Caller {
    return this.#admit(account.id, key?.id);
  }

  /** Watches the key of a long-running request until the result is disposed. */
  watch(caller: Caller): RevocableRequest {
    const request: OpenRequest = { caller, controller: new AbortController(), timer: undefined };
    this.#open.add(request);
    this.#check(request);
    return {
      signal: request.controller.signal,
      [Symbol.dispose]: () => {
        clearTimeout(request.timer);
        this.#open.delete(request);
      },
    };
  }

  /** Checks the keys of all running requests again, after keys may have been revoked or accounts disabled. */
  recheck(): void {
    for (const request of this.#open) this.#check(request);
  }

  #check(request: OpenRequest): void {
    const { caller, controller } = request;
    clearTimeout(request.timer);
    const expiresAt = caller.tokenExpiresAt ?? caller.key?.expiresAt ?? null;
    try {
      this.#admit(caller.account.id, caller.key?.id);
      if (caller.tokenExpiresAt !== undefined) refuseExpired(caller.tokenExpiresAt);
    } catch (error) {
      controller.abort(error);
      return;
    }
    if (expiresAt === null) return;
    request.timer = setTimeout(() => this.#check(request), Math.min(MAX_TIMER_MS, Math.max(1, expiresAt - Date.now())));
    request.timer.unref();
  }

  #admit(accountId: string, keyId: string | undefined): Caller {
    const key = keyId === undefined ? undefined : this.#store.keys.get(keyId);
    if (key !== undefined) refuseEnded(key);
    const account = this.#store.accounts.get(accountId);
    if (account.disabledAt === null) return { account, key };
    throw disabledAccount(account);
  }
}

/** 403, because clients ask for another key after 401, which would change nothing. */
export function disabledAccount({ id }: StoredAccount): HTTPException {
  return refusal(403, `The account ${id} is disabled. Ask the operator of the service to enable it.`);
}

function refuseExpired(tokenExpiresAt: number): void {
  if (tokenExpiresAt <= Date.now()) throw refusal(401, 'This sign-in has expired. Sign in again.');
}

function refuseEnded({ revokedAt, expiresAt }: StoredKey): void {
  if (revokedAt !== null)
    throw refusal(401, 'This API key was revoked. Ask the operator of the service for a new one.');
  if (expiresAt === null || expiresAt > Date.now()) return;
  const day = new Date(expiresAt).toISOString().slice(0, 10);
  throw refusal(401, `This API key expired on ${day}. Ask the operator of the service for a new one.`);
}
